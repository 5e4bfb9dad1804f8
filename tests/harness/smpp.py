"""A customer's side of the SMPP server: the server of a `service`, and a client that sends whatever it is told to."""

import asyncio
import itertools
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple

from api.smpp.server import SmppServer
from shared.accounts.smpp_credentials import NewCredential, create_credential
from shared.carriers.smpp.constants import Command, Status, Tag
from shared.carriers.smpp.pdu import (
    HEADER,
    HEADER_SIZE,
    Bind,
    Message,
    bind_body,
    c_string,
    message_body,
    pdu,
    read_c_string,
    read_message,
    read_tlvs,
)
from tests.harness.event_loop_client import event_loop
from tests.harness.service import SECRET_KEY, Service

SECONDS = 60.0


class Pdu(NamedTuple):
    """A PDU that the server sent."""

    command: int
    status: int
    sequence: int
    body: bytes

    @property
    def message_id(self) -> str:
        return read_c_string(self.body, 0)[0]

    @property
    def explanation(self) -> str:
        """The additional_status_info_text."""
        return (
            read_tlvs(self.body, 1).get(Tag.ADDITIONAL_STATUS_INFO_TEXT, b"").rstrip(b"\0").decode()
            if self.body
            else ""
        )

    @property
    def message(self) -> Message:
        return read_message(self.command, self.body)

    @property
    def receipt(self) -> dict[str, str]:
        """The fields of a receipt."""
        text = self.message.short_message.decode().replace("submit date", "submitted").replace("done date", "done")
        return dict(word.split(":", 1) for word in text.split(" "))


class Closed(Exception):
    """The server has closed the connection."""


class SmppClient:
    """One connection."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self._sequences = itertools.count(1_000_000)  # unlike those of the server
        self._rest = b""
        self._received: list[Pdu] = []

    def send(self, command: int, body: bytes = b"", status: int = 0, sequence: int | None = None) -> int:
        """Send a PDU. Returns its sequence number."""
        number = next(self._sequences) if sequence is None else sequence
        self.socket.sendall(pdu(command, status, number, body))
        return number

    def read(self, command: int | None = None, sequence: int | None = None) -> Pdu:
        """The next PDU, or the next one of the command or with the sequence number. Raises Closed."""
        for number in itertools.count():
            if number == len(self._received):
                self._received.append(self._receive())
            found = self._received[number]
            if command in (None, found.command) and sequence in (None, found.sequence):
                return self._received.pop(number)
        raise AssertionError

    def _receive(self) -> Pdu:
        while len(self._rest) < HEADER_SIZE or len(self._rest) < HEADER.unpack_from(self._rest)[0]:
            try:
                octets = self.socket.recv(65536)
            except ConnectionError:
                octets = b""
            if not octets:
                raise Closed
            self._rest += octets
        length, command, status, sequence = HEADER.unpack_from(self._rest)
        read = Pdu(command, status, sequence, self._rest[HEADER_SIZE:length])
        self._rest = self._rest[length:]
        return read

    def ask(self, command: int, body: bytes = b"") -> Pdu:
        """Send a request, and read its response."""
        sequence = self.send(command, body)
        return self.read(sequence=sequence)

    def bind(self, credential: NewCredential, command: int = Command.BIND_TRANSCEIVER) -> Pdu:
        return self.ask(command, bind_body(Bind(credential.system_id, credential.password)))

    def submit(self, phone: str = "254711000000", text: bytes = b"Hi", sender: str = "ACME", **more: Any) -> Pdu:
        """Submit a message, and read the response."""
        return self.ask(Command.SUBMIT_SM, submit_body(phone, text, sender, **more))

    def delivery(self, status: int | None = Status.ESME_ROK) -> Pdu:
        """The next deliver_sm, answered with the status, or not with None."""
        read = self.read(Command.DELIVER_SM)
        if status is not None:
            self.send(Command.DELIVER_SM_RESP, b"\0", status, read.sequence)
        return read

    def stop(self) -> None:
        self.socket.close()


def submit_body(phone: str = "254711000000", text: bytes = b"Hi", sender: str = "ACME", **more: Any) -> bytes:
    """The body of a submit_sm that wants a receipt."""
    values = {"registered_delivery": 1, "source_ton": 5, **more}
    return message_body(Message(sender, phone, text, **values))


def data_sm_body(phone: str, text: bytes, sender: str = "ACME") -> bytes:
    """The body of a data_sm."""
    addresses = b"\5\0" + c_string(sender) + b"\1\1" + c_string(phone)
    return b"\0" + addresses + b"\0\1\0" + b"\x04\x24" + len(text).to_bytes(2, "big") + text


class SmppHouse:
    """The SMPP server of a service, in the event loop that its other requests use."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._clients: list[SmppClient] = []
        self.server: SmppServer = self._run(self._make())
        self.port: int = self._run(self.server.start("127.0.0.1", 0))

    async def _make(self) -> SmppServer:
        return SmppServer(self.service.flask.extensions["bulksms"])

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, event_loop()).result(SECONDS)

    def credential(self, account: int | None = None, **more: Any) -> NewCredential:
        """A new credential of the service's account, or of another one."""
        owner = account or self.service.account_id
        with self.service.engine.begin() as connection:
            name = f"acme{owner}-{len(self._clients)}"
            options: dict[str, Any] = {"networks": ["127.0.0.0/8"], **more}
            return create_credential(connection, owner, options.pop("system_id", name), SECRET_KEY, **options)

    def client(self) -> SmppClient:
        """A connection that is not bound."""
        self._clients.append(SmppClient(self.port))
        return self._clients[-1]

    def bound(self, credential: NewCredential | None = None, command: int = Command.BIND_TRANSCEIVER) -> SmppClient:
        """A bound connection."""
        made = credential or self.credential()
        client = self.client()
        answer = client.bind(made, command)
        assert answer.status == Status.ESME_ROK, answer
        return client

    def stopping(self) -> Future[None]:
        """Begin to stop the server."""
        return asyncio.run_coroutine_threadsafe(self.server.stop(), event_loop())

    def stop(self) -> None:
        """Close what is open, and stop the server."""
        for client in self._clients:
            client.stop()
        self.stopping().result(SECONDS)


@contextmanager
def smpp_house(service: Service) -> Iterator[SmppHouse]:
    """The SMPP server of a service, until the end of the block."""
    house = SmppHouse(service)
    try:
        yield house
    finally:
        house.stop()
