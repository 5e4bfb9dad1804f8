"""One connection to an SMPP server: frames PDUs, keeps the link alive, and ends what takes too long.

The server for customers (api/smpp/session.py) and the simulated SMSC (bulksms/smsc/connection.py) say who may bind, and
answer requests. The memory of a connection is bounded: at most one incomplete PDU, a window of unanswered deliveries,
and a buffer of answers; while the client does not read these, nothing more is read from it.
"""

import asyncio
import time
from itertools import count
from typing import Final, Generic, TypeVar, cast

from shared.carriers.smpp.constants import MAX_SEQUENCE, RESPONSE, Command, Status
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, MAX_PDU, pdu

SUBMIT_SM: Final = int(Command.SUBMIT_SM)
"""Compared with each PDU; a member of the enumeration would take twice as long."""
ANSWERS: Final = {int(Command.DELIVER_SM_RESP): Status.ESME_ROK, int(Command.GENERIC_NACK): Status.ESME_RUNKNOWNERR}
"""Answers to a delivery, and what they mean if their command_status is 0."""
BINDS: Final = frozenset({Command.BIND_TRANSMITTER, Command.BIND_RECEIVER, Command.BIND_TRANSCEIVER})
BUFFER: Final = 256 * 1024
"""Octets of answers that may wait to be written."""
BIND_SECONDS, WRITE_SECONDS = 10.0, 30.0
"""How long a connection may be without a bind, and answers not be read."""
IDLE_SECONDS, ANSWER_SECONDS = 60.0, 30.0
"""How long no whole PDU may come until an enquire_link is sent, and its answer and that of a delivery may take."""
CHEAP, CHEAP_SECONDS = 200, 1.0
"""How many PDUs that begin no work, such as enquire_links and what is refused, are answered in this time. After them
nothing is read for as long, or a few clients that send them without an end would take all the time of the process."""
CLOSE_SECONDS: Final = 5.0
"""How long a connection may stay open that is to end."""

D = TypeVar("D")


class ServerConnection(asyncio.Protocol, Generic[D]):
    """A connection, bound or not yet. `D` is what a subclass keeps of a delivery until it is answered."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.address = ""
        self.is_bound = self.is_closing = False
        self.requests = 0
        """Requests without an answer. The answer to an unbind waits for theirs."""
        self.out: list[bytes] = []
        """What is written together, after the PDUs that are read now."""
        self.window = 0
        """The most deliveries that may be unanswered."""
        self.unanswered: dict[int, tuple[float, D]] = {}
        """Deliveries by their sequence number, with when they were sent."""
        self._rest = b""
        self._is_deaf = self._is_reading = self._flushes_soon = False
        self._cheap, self._cheap_since, self._is_made_to_wait = 0, 0.0, False
        self._unbind_sequence: int | None = None
        self._is_ending = False
        """Whether it ends once all requests are answered."""
        self._sequences = count()
        self._opened_at = self._heard_at = time.monotonic()
        self._blocked_since: float | None = None
        self._enquired_at: float | None = None
        self.closes_at: float | None = None
        """When it ends at the latest, if it is to end."""

    def bind(self, command: int, sequence: int, body: bytes) -> None:
        """Answer a bind. Sets `is_bound` and `window`."""
        raise NotImplementedError

    def submit(self, data: bytes, at: int, end: int, sequence: int) -> None:
        """Answer a submit_sm, whose body is `data[at:end]`."""
        raise NotImplementedError

    def request(self, command: int, sequence: int, body: bytes) -> None:
        """Answer another request. One that is not known:"""
        self.count_cheap()
        self.write(Command.GENERIC_NACK, Status.ESME_RINVCMDID, sequence)

    def answered(self, delivery: D, status: int) -> None:
        """A delivery was answered."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass
        self.transport.set_write_buffer_limits(high=BUFFER)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""

    def connection_lost(self, error: Exception | None) -> None:
        """End. Those that are in `unanswered` have no answer."""
        self.is_closing = self._is_deaf = True

    def pause_writing(self) -> None:
        """Read nothing more until the answers are read."""
        self._blocked_since = time.monotonic()
        self._set_reading()

    def resume_writing(self) -> None:
        """Go on."""
        self._blocked_since = None
        self._set_reading()

    def data_received(self, data: bytes) -> None:
        """Handle all complete PDUs."""
        self._read(self._rest + data if self._rest else data)

    def _read(self, data: bytes) -> None:
        self._is_reading, at, size = True, 0, len(data)
        while size - at >= HEADER_SIZE and not self._is_deaf and not self._is_made_to_wait:
            length, command, status, sequence = HEADER.unpack_from(data, at)
            end = at + length
            if not HEADER_SIZE <= length <= MAX_PDU:
                self.write(Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, sequence)
                self.close()
                break
            if end > size:
                break
            if command == SUBMIT_SM:
                self.submit(data, at + HEADER_SIZE, end, sequence)
            else:
                self._handle(command, status, sequence, data[at + HEADER_SIZE : end])
            at = end
        self._is_reading = False
        self._rest = b"" if self.is_closing else data[at:]
        if at:
            self._heard_at, self._enquired_at = time.monotonic(), None
        self.flush()

    def _handle(self, command: int, status: int, sequence: int, body: bytes) -> None:
        if command in ANSWERS and (known := self.unanswered.pop(sequence, None)) is not None:
            self.answered(known[1], status or ANSWERS[command])
        elif command == Command.UNBIND_RESP:
            self._end()
        elif command & RESPONSE:
            self.count_cheap()  # of an enquire_link: that it came is enough
        elif command == Command.ENQUIRE_LINK:
            self.count_cheap()
            self.write(Command.ENQUIRE_LINK_RESP, Status.ESME_ROK, sequence)
        elif command in BINDS:
            self.bind(command, sequence, body)
        elif command == Command.UNBIND:
            self._unbind_sequence = sequence
            self._end()
        else:
            self.request(command, sequence, body)

    def count_cheap(self) -> None:
        """A PDU began no work."""
        if (now := time.monotonic()) - self._cheap_since > CHEAP_SECONDS:
            self._cheap_since, self._cheap = now, 0
        self._cheap += 1
        if self._cheap == CHEAP:
            self._is_made_to_wait = True
            self._set_reading()
            asyncio.get_running_loop().call_later(CHEAP_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._is_made_to_wait, self._cheap = False, 0
        self.hold(self._is_deaf)

    def request_ended(self) -> None:
        """One of `requests` is answered."""
        self.requests -= 1
        self._close_if_answered()

    def _end(self) -> None:
        """Read nothing more, and close the connection once all requests are answered."""
        self._is_ending = self._is_deaf = True
        self.closes_at = time.monotonic() + ANSWER_SECONDS
        self._set_reading()
        self._close_if_answered()

    def _close_if_answered(self) -> None:
        if self._is_ending and not self.requests:
            if self._unbind_sequence is not None:
                status = Status.ESME_ROK if self.is_bound else Status.ESME_RINVBNDSTS
                self.write(Command.UNBIND_RESP, status, self._unbind_sequence)
            self.close()

    @property
    def room(self) -> int:
        """How many more deliveries may be unanswered."""
        is_open = self._blocked_since is None and self.closes_at is None and not self.is_closing
        return self.window - len(self.unanswered) if is_open else 0

    def check(self, now: float) -> None:
        """End the connection if the client takes too long; ask whether it is there. Called every second."""
        sent_at = min((at for at, _ in self.unanswered.values()), default=now)
        if (
            (not self.is_bound and not self._is_deaf and now - self._opened_at > BIND_SECONDS)
            or now - (self._blocked_since or now) > WRITE_SECONDS
            or now - (self._enquired_at or now) > ANSWER_SECONDS
            or now - sent_at > ANSWER_SECONDS
            or now > (self.closes_at or now)
        ):
            self.abort()
        elif now - self._heard_at > IDLE_SECONDS and self._enquired_at is None:
            self._enquired_at = now
            self.write(Command.ENQUIRE_LINK, Status.ESME_ROK, self.next_sequence())

    def unbind(self) -> None:
        """End the session politely: the client may answer what is open."""
        if self.closes_at is None:
            self.write(Command.UNBIND, Status.ESME_ROK, self.next_sequence())
            self.closes_at = time.monotonic() + CLOSE_SECONDS

    def hold(self, is_held: bool) -> None:
        """Read nothing more, or go on with what has come meanwhile."""
        self._is_deaf = is_held or self.is_closing
        self._set_reading()
        if not is_held:
            self._read(self._rest)

    def abort(self) -> None:
        """End the connection at once."""
        self.is_closing = self._is_deaf = True
        self.out.clear()
        if self.transport is not None:
            self.transport.abort()

    def close(self) -> None:
        """End the connection once the answers are written."""
        self.flush()
        self._is_deaf, self.closes_at = True, time.monotonic() + CLOSE_SECONDS
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection."""
        self.is_closing = True
        if self.transport is not None:
            self.transport.close()

    def write(self, command: int, status: int, sequence: int, body: bytes = b"") -> None:
        """Write a PDU, together with others of this turn of the event loop."""
        self.out.append(pdu(command, status, sequence, body))
        if not self._is_reading and not self._flushes_soon:
            self._flushes_soon = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Write what waits."""
        self._flushes_soon = False
        if self.out:
            octets = b"".join(self.out)
            self.out.clear()
            self.write_now(octets)

    def write_now(self, octets: bytes) -> None:
        """Write octets, unless the connection ends."""
        if self.transport is not None and not self.is_closing and not self.transport.is_closing():
            self.transport.write(octets)

    def next_sequence(self) -> int:
        """The sequence number of the next request to the client."""
        return next(self._sequences) % MAX_SEQUENCE + 1

    def _set_reading(self) -> None:
        if self.transport is None or self.is_closing or self.transport.is_closing():
            return
        if self._is_deaf or self._is_made_to_wait or self._blocked_since is not None:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()
