"""A minimal SMPP client: one blocking connection, and one struct packed per message."""

import socket
import struct

from bench.stand import SENDER, TEXT
from bulksms.local.ports import LOOPBACK

HEADER = struct.Struct(">IIII")
SUBMIT_SM_RESP, DELIVER_SM, DELIVER_SM_RESP = 0x80000004, 0x00000005, 0x80000005
WINDOW = 100

SOURCE = b"\0\x05\0" + SENDER.encode() + b"\0\x01\x01"
FLAGS, REST = b"\0\0\0\0\0\0", b"\0\0\0" + bytes((len(TEXT),)) + TEXT.encode()


class Bind:
    """A transceiver bind that keeps a window of submits outstanding."""

    def __init__(self, port: int, *, receipts: bool) -> None:
        self._socket = socket.create_connection((LOOPBACK, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self._suffix = FLAGS + bytes((receipts,)) + REST
        body = b"bench\0bench\0\0\x34\0\0\0"
        self._socket.sendall(HEADER.pack(16 + len(body), 9, 0, 1) + body)
        while not self._rest:
            self._rest = self._socket.recv(4096)
        self._rest = b""
        self.responses: list[str] = []
        """The carrier's ids, in the order of the submits."""
        self.receipts: list[tuple[int, str]] = []
        """Sequence number and id of the receipts not acknowledged yet."""

    def submit(self, phones: range) -> list[str]:
        """Submit to the phones. Returns the carrier's ids, in order."""
        self.responses = []
        sent, size = 0, len(phones)
        while len(self.responses) < size:
            if sent < size and sent - len(self.responses) <= WINDOW // 2:
                upto = min(size, len(self.responses) + WINDOW)
                self._socket.sendall(b"".join([_submit_sm(phone, self._suffix) for phone in phones[sent:upto]]))
                sent = upto
            self.read()
        return self.responses

    def read(self) -> None:
        """Wait for PDUs, and record responses and receipts."""
        data = self._rest + self._socket.recv(65_536)
        at, size = 0, len(data)
        while size - at >= 16:
            length, command, _, sequence = HEADER.unpack_from(data, at)
            if length > size - at:
                break
            if command == SUBMIT_SM_RESP:
                self.responses.append(data[at + 16 : at + length - 1].decode())
            elif command == DELIVER_SM:
                begin = data.index(b"id:", at) + 3
                self.receipts.append((sequence, data[begin : begin + 10].decode()))
            at += length
        self._rest = data[at:]

    def answer_receipts(self) -> None:
        """Acknowledge the receipts, which are stored now."""
        responses = (HEADER.pack(17, DELIVER_SM_RESP, 0, sequence) + b"\0" for sequence, _ in self.receipts)
        self._socket.sendall(b"".join(responses))
        self.receipts.clear()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def _submit_sm(phone: int, suffix: bytes) -> bytes:
    body = SOURCE + str(phone).encode() + suffix
    return HEADER.pack(16 + len(body), 4, 0, phone & 0x7FFFFFFF) + body
