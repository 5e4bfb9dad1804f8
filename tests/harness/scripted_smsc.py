"""An SMSC that does what a test tells it, PDU by PDU, so that it can be wrong in ways the simulated one is not."""

import socket
from types import TracebackType
from typing import NamedTuple, Self

from shared.carriers.smpp.constants import RESPONSE, Command
from shared.carriers.smpp.pdu import HEADER, pdu

PATIENCE = 60.0
BINDS = (Command.BIND_RECEIVER, Command.BIND_TRANSMITTER, Command.BIND_TRANSCEIVER)


class Pdu(NamedTuple):
    """One PDU as it came."""

    command: int
    status: int
    sequence: int
    body: bytes


class ScriptedSmsc:
    """Listens on `port`; `accept` takes one client, and the rest is about that one."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(PATIENCE)
        self.port: int = self._server.getsockname()[1]
        self._client: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.hang_up()
        self._server.close()

    def accept(self, status: int = 0, answered: bool = True) -> Pdu:
        """Take a client, and answer its bind."""
        self.hang_up()
        self._client, _ = self._server.accept()
        self._client.settimeout(PATIENCE)
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bind = self.read()
        assert bind.command in BINDS
        if answered:
            self.send(pdu(bind.command | RESPONSE, status, bind.sequence, b"SMSC\0"))
        return bind

    def hang_up(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def read(self) -> Pdu:
        """The next PDU."""
        length, command, status, sequence = HEADER.unpack(self._exactly(HEADER.size))
        return Pdu(command, status, sequence, self._exactly(length - HEADER.size))

    def submits(self, count: int) -> list[Pdu]:
        """The next PDUs, which must be submits."""
        read = [self.read() for _ in range(count)]
        assert {each.command for each in read} == {Command.SUBMIT_SM}
        return read

    def nothing_more(self, seconds: float) -> bool:
        """Whether nothing comes for that long."""
        assert self._client is not None
        self._client.settimeout(seconds)
        try:
            return self._client.recv(1, socket.MSG_PEEK) == b""
        except TimeoutError:
            return True
        finally:
            self._client.settimeout(PATIENCE)

    def send(self, data: bytes) -> None:
        """Send octets as they are."""
        assert self._client is not None
        self._client.sendall(data)

    def answer(self, submit: Pdu, identity: bytes = b"id", status: int = 0) -> None:
        """Answer one submit."""
        self.send(answer(submit, identity, status))

    def _exactly(self, size: int) -> bytes:
        assert self._client is not None
        data = b""
        while len(data) < size:
            more = self._client.recv(size - len(data))
            if not more:
                raise ConnectionError("the client hung up")
            data += more
        return data


def answer(submit: Pdu, identity: bytes = b"id", status: int = 0) -> bytes:
    """A submit_sm_resp."""
    return pdu(Command.SUBMIT_SM_RESP, status, submit.sequence, b"" if status else identity + b"\0")
