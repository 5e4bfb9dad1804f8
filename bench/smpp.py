"""Submits over SMPP beside single sends over HTTP, in turns on one database, without workers: what accepting costs."""

import asyncio
import time
from collections.abc import Sequence
from statistics import median
from typing import cast

import psutil
import uvloop

from bench.load import kind, single_sends
from bench.measure import MESSAGES
from bench.result import Case, Result
from bench.stand import SECRET_KEY, SENDER, TEXT, Stand
from bulksms.local import services
from bulksms.local.command import Command as Process
from bulksms.local.ports import LOOPBACK, free_port
from shared.accounts.smpp_credentials import NewCredential, create_credential
from shared.carriers.smpp.constants import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import HEADER, Bind, Message, bind_body, message_prefix, message_suffix, pdu

PROCESSES = 2
"""Of the SMPP server, as the API has."""
BINDS_OF_ONE = 32
"""Binds of a credential."""
CASES = (("HTTP, 64 clients", 64, 0), ("SMPP, 1 bind, window 100", 1, 100), ("SMPP, 64 binds, window 10", 64, 10))
"""Each with its clients, and their window; 0 over HTTP."""


def run(result: Result) -> None:
    """Measure the cases in turns. The figures are medians, and ratios to the case of HTTP of the same turn."""
    times, seconds = (2, 3.0) if result.short else (5, 6.0)
    result.load, result.note = f"{kind()}, uvloop", f"Medians of {times} turns. `us` is processor time of the service."
    with Stand(receipts=False, workers=0, settings={"REQUESTS_PER_SECOND": "100000"}) as stand:
        port = free_port()
        servers = [services.smpp(port, stand.env, stand.folder, stand.folder) for _ in range(PROCESSES)]
        try:
            for server in servers:
                server.launch()
                server.wait_ready(60)
            credentials = _credentials(stand)
            turns = [_turn(stand, servers, port, credentials, seconds) for _ in range(times + 1)][1:]
        finally:
            for server in servers:
                server.stop()
    for number, (name, *_) in enumerate(CASES):
        rates, costs, errors = zip(*(turn[number] for turn in turns), strict=True)
        figures = {
            MESSAGES: sum(rates) * seconds,
            "accepted/s": median(rates),
            "us": median(costs),
            "errors": sum(errors),
        }
        figures["of HTTP"] = median(turn[number][0] / turn[0][0] for turn in turns)
        result.add(Case(name, figures))


Figures = tuple[float, float, int]
"""Accepted messages a second, processor microseconds of each, and errors."""


def _turn(
    stand: Stand, servers: list[Process], port: int, credentials: list[NewCredential], seconds: float
) -> list[Figures]:
    figures = []
    for _, clients, window in CASES:
        roots: Sequence[Process | None] = servers if window else [stand.api]
        before, begun, accepted = _processor_seconds(roots), time.monotonic(), stand.accepted()
        if window:
            logins = [credentials[number // BINDS_OF_ONE] for number in range(clients)]
            errors = uvloop.run(_submit(stand, port, logins, window, seconds))
        else:
            errors = single_sends(stand, clients, seconds).errors
        took = time.monotonic() - begun
        stand.settle()
        messages = stand.accepted() - accepted
        figures.append((messages / took, 1e6 * (_processor_seconds(roots) - before) / messages, errors))
    return figures


def _credentials(stand: Stand) -> list[NewCredential]:
    with stand.engine.begin() as connection:
        return [
            create_credential(
                connection,
                stand.account,
                f"bench-{number}",
                SECRET_KEY,
                networks=[f"{LOOPBACK}/32"],
                max_binds=BINDS_OF_ONE + 8,  # those that end are counted for a moment
                window_size=100,
            )
            for number in range(2)
        ]


def _processor_seconds(processes: Sequence[Process | None]) -> float:
    roots = [psutil.Process(each.pid) for each in processes if each is not None]
    return sum(sum(each.cpu_times()[:2]) for root in roots for each in (root, *root.children(recursive=True)))


class Client(asyncio.Protocol):
    """A bind that keeps its window full until `until`."""

    def __init__(self, login: NewCredential, phones: range, window: int, until: float) -> None:
        self._login, self._phones, self._window, self._until = login, iter(phones), window, until
        message = Message(SENDER, "", TEXT.encode(), source_ton=5)
        self._prefix, self._suffix = message_prefix(message), message_suffix(message)
        self.ended = asyncio.get_running_loop().create_future()
        self.errors = 0
        self._open, self._sequence, self._rest = 0, 1, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Bind."""
        self._transport = cast(asyncio.Transport, transport)
        body = bind_body(Bind(self._login.system_id, self._login.password, ""))
        self._transport.write(pdu(Command.BIND_TRANSMITTER, Status.ESME_ROK, 1, body))

    def data_received(self, data: bytes) -> None:
        """Submit as many as were answered."""
        data, at = self._rest + data, 0
        while len(data) - at >= HEADER.size:
            length, command, status, _ = HEADER.unpack_from(data, at)
            if len(data) - at < length:
                break
            at += length
            self._open -= command == Command.SUBMIT_SM | RESPONSE
            self.errors += status != Status.ESME_ROK
        self._rest = data[at:]
        if time.monotonic() < self._until:
            self._transport.write(b"".join(self._submit() for _ in range(self._window - self._open)))
        elif not self._open:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        if not self.ended.done():
            self.ended.set_result(None)

    def _submit(self) -> bytes:
        self._open += 1
        self._sequence += 1
        body = self._prefix + str(next(self._phones)).encode() + self._suffix
        return pdu(Command.SUBMIT_SM, Status.ESME_ROK, self._sequence, body)


async def _submit(stand: Stand, port: int, logins: list[NewCredential], window: int, seconds: float) -> int:
    """Submit by a bind of each login for `seconds`. Returns how many were refused."""
    loop, until = asyncio.get_running_loop(), time.monotonic() + seconds
    clients = [Client(login, stand.phones(1_000_000), window, until) for login in logins]
    for client in clients:
        await loop.create_connection(lambda client=client: client, LOOPBACK, port)  # type: ignore[misc]
    await asyncio.gather(*(client.ended for client in clients))
    return sum(client.errors for client in clients)
