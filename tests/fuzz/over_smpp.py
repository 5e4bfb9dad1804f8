"""Spoiled PDUs for the SMPP server, over sockets.

Beside them customers go on submitting. None of them may be refused or lose a bind, nothing may fail inside the server,
and its memory stays flat. Each input is made from the seed and its number.
"""

import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import psutil

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from shared.accounts.limits import set_limits
from shared.accounts.smpp_credentials import MAX_WINDOW, NewCredential
from shared.carriers.smpp.constants import RESPONSE, Command, Tag
from shared.carriers.smpp.pdu import HEADER_SIZE, Bind, bind_body, c_string, pdu
from tests.fuzz import corpus
from tests.fuzz.mutate import Mutator
from tests.fuzz.run import GROWTH, WARM, Finding
from tests.harness.house import House, wait_until
from tests.harness.smpp import data_sm_body, submit_body
from tests.harness.smpp_customer import SmppCustomer, new_credential

START_SECONDS = 180.0
TOGETHER = 100
"""PDUs that are sent before the answers are read."""
RIGHT_LENGTH = 0.998
"""Of the PDUs: a wrong length ends the connection, or swallows what comes next."""
CUSTOMERS = 2
NO_LIMIT = 1_000_000
"""Requests a second."""
PHONE = "254711000000"


def seeds() -> list[bytes]:
    """What customers send when they are well. Few of their messages are accepted: that is not what is tried here."""
    texts = (b"Hi", b"x" * 160, "я".encode("utf-16-be") * 70, b"\5\0\3\7\2\1" + b"y" * 50)
    bodies = [
        submit_body(PHONE, text, sender, data_coding=coding, esm_class=esm_class)
        for text in texts
        for sender in ("FUZZ", "FUZZ", "FUZZ", "ACME")
        for coding in (0, 1, 3, 4, 8)
        for esm_class in (0, 0x40)
    ]
    bodies += [submit_body(PHONE, b"", tlvs={Tag.MESSAGE_PAYLOAD: b"z" * 500, 0x1600: b"key"}, sender="FUZZ")] * 9
    bodies += [submit_body(PHONE, schedule="260504123000000+", validity="000001000000000R", sender="FUZZ")] * 9
    made = [pdu(Command.SUBMIT_SM, 0, number, body) for number, body in enumerate(bodies, 1)]
    message_id = c_string("019cad1e-3f78-7c3e-9b5f-2e61d08f0001")
    made += [pdu(Command.DATA_SM, 0, 7, data_sm_body(PHONE, b"Hi", "FUZZ"))] * 9
    made += [pdu(Command.QUERY_SM, 0, 8, message_id + b"\1\1\0"), pdu(Command.CANCEL_SM, 0, 9, b"\0" + message_id)]
    made += [pdu(Command.DELIVER_SM | RESPONSE, 0, number, b"\0") for number in range(2, 12)]
    return [*made, *corpus.requests(), *corpus.stream()]


SEEDS = seeds()


def one(seed: int, number: int) -> bytes:
    """The input of that number: most have the length that they say, so that their bodies are read."""
    rng = random.Random(f"smpp {seed}/{number}")
    data = Mutator(rng).spoil(rng.choice(SEEDS), rng.choice(SEEDS))
    if rng.random() >= RIGHT_LENGTH:
        return data
    data = data.ljust(HEADER_SIZE, b"\0")
    command = Command.ENQUIRE_LINK if data[4:8] in ENDS else int.from_bytes(data[4:8], "big")
    return len(data).to_bytes(4, "big") + command.to_bytes(4, "big") + data[8:]


ENDS = {command.to_bytes(4, "big") for command in (Command.UNBIND, Command.UNBIND | RESPONSE)}
"""Commands that end the connection."""


class Stranger:
    """A connection from an address of its own, bound with a credential or not, which is made anew when it is ended."""

    def __init__(self, port: int, number: int, credential: NewCredential | None) -> None:
        self._port, self._address, self._credential = port, f"127.0.2.{number + 1}", credential
        self._socket: socket.socket | None = None
        self.ended = 0

    def send(self, data: bytes) -> None:
        """Send octets, and read what has come."""
        for _ in range(2):
            try:
                self._connected().sendall(data)
                self._read()
                return
            except OSError:
                self.stop()
                self.ended += 1

    def stop(self) -> None:
        """End it."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection((LOOPBACK, self._port), 30, (self._address, 0))
            if self._credential is not None:
                bind = bind_body(Bind(self._credential.system_id, self._credential.password))
                self._socket.sendall(pdu(Command.BIND_TRANSCEIVER, 0, 1, bind))
                self._socket.recv(HEADER_SIZE)
        return self._socket

    def _read(self) -> None:
        assert self._socket is not None
        self._socket.sendall(pdu(Command.ENQUIRE_LINK, 0, 0x7FFFFFFF))
        ended = pdu(Command.ENQUIRE_LINK | RESPONSE, 0, 0x7FFFFFFF)
        last = b""
        self._socket.settimeout(0.5)  # a wrong length may have swallowed the question
        while ended not in last:
            octets = self._socket.recv(65536)
            if not octets:
                raise ConnectionError
            last = last[-HEADER_SIZE:] + octets


class Server:
    """The SMPP server with customers beside the strangers."""

    def __init__(self, house: House, stack: ExitStack) -> None:
        port = free_port()
        _, fuzzed = new_credential(house.engine, "fuzzed", 1_000, window_size=MAX_WINDOW, max_binds=50)
        self.customers = []
        for number in range(CUSTOMERS):
            _, credential = new_credential(house.engine, f"well-{number}", 1_000_000)
            self.customers.append(SmppCustomer([port], credential, 254_100_000_000 + number * 1_000_000, 20.0))
        with house.engine.begin() as connection:
            for (account,) in connection.exec_driver_sql("SELECT id FROM account WHERE sandbox_of IS NULL").all():
                set_limits(connection, account, requests_per_second=NO_LIMIT)
        self.process = services.smpp(port, house.env, house.folder, Path.cwd())
        self.process.launch()
        stack.callback(self.process.stop)
        self.process.wait_ready(START_SECONDS)
        for customer in self.customers:
            customer.start()
            stack.callback(customer.stop)
        self.strangers = [Stranger(port, number, fuzzed if number else None) for number in range(16)]
        for stranger in self.strangers:
            stack.callback(stranger.stop)

    @property
    def memory(self) -> int:
        """Bytes of the server."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def check(self, numbers: str) -> None:
        """Raise Finding for what must not be."""
        log = self.process.log_file.read_text()
        if self.process.exit_code() is not None or "Traceback" in log or "internal error" in log:
            raise Finding(f"the server failed: {numbers}: {self.process.log_tail()}")
        for customer in self.customers:
            if customer.breaks or customer.refused:
                raise Finding(f"a customer was hurt: {numbers}: {customer.breaks} binds lost, {customer.refused[:3]}")


@contextmanager
def serving() -> Iterator[Server]:
    """A server of its own, with one worker."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, ExitStack() as stack:
        Path(folder).chmod(0o755)
        house = House(Path(folder), SIMULATOR_RATE="1000")
        stack.callback(house.stop)
        house.start_workers(1)
        yield Server(house, stack)


def fuzz(runs: int, seed: int, first: int = 0) -> Iterator[tuple[int, int]]:
    """Send that many inputs. Yields how many were sent, and the server's memory in bytes. Raises Finding."""
    with serving() as server:
        wait_until(lambda: all(customer.answered for customer in server.customers), 60, "the first answers")
        before, turns = 0, count()
        for number in range(first, first + runs, TOGETHER):
            last = min(number + TOGETHER, first + runs)
            stranger = server.strangers[next(turns) % len(server.strangers)]
            stranger.send(b"".join(one(seed, each) for each in range(number, last)))
            if not before and last - first >= runs * WARM:
                before = server.memory
            if (number - first) % 20_000 == 0:
                server.check(f"--seed {seed}, before {last}")
                yield last - first, server.memory
        grown = server.memory - before
        if runs >= 100_000 and grown > GROWTH:
            raise Finding(f"memory has grown by {grown / 2**20:.0f} MB: --seed {seed} --runs {runs}")
        for customer in server.customers:
            customer.hold()
        wait_until(lambda: all(each.is_settled() for each in server.customers), 120, "every answer and receipt")
        server.check(f"--seed {seed}, at the end")
        print(f"\n{sum(each.answered for each in server.customers):,} messages beside them", end=", ")
        print(f"{sum(each.ended for each in server.strangers):,} connections ended", end="", flush=True)
        yield runs, server.memory
