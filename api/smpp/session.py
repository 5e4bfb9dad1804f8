"""One connection of a customer: reads PDUs, answers them, and sends deliveries.

Its memory is bounded: at most one incomplete PDU, a window of unanswered requests in each direction, and a buffer of
answers; while the customer does not read these, nothing more is read from them. What takes too long ends it (`check`).
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, Final, cast

from api.smpp.backend import Backend, is_submit
from api.smpp.binds import Bound
from api.smpp.errors import RefusedPdu, refusal_of
from api.smpp.turns import Turns
from shared.carriers.smpp.constants import MAX_SEQUENCE, RESPONSE, Command, Status, Tag
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, MAX_PDU, c_string, pdu, read_bind, tlv
from shared.observability.metrics import CUSTOMER_BINDS

KINDS: Final = {
    Command.BIND_TRANSMITTER: "transmitter",
    Command.BIND_RECEIVER: "receiver",
    Command.BIND_TRANSCEIVER: "transceiver",
}
SYSTEM_ID: Final = "bulksms"
"""Of this server, in the response to a bind."""
MAX_TEXT: Final = 255
"""Characters of a text that explains a status."""
BUFFER: Final = 256 * 1024
"""Octets of answers that may wait to be written."""
BIND_SECONDS, PDU_SECONDS, WRITE_SECONDS = 10.0, 10.0, 30.0
"""How long a connection may be without a bind, a PDU be incomplete, and answers not be read."""
IDLE_SECONDS, ANSWER_SECONDS = 60.0, 30.0
"""Silence after which an enquire_link is sent, and how long its answer and that of a delivery may take."""
CLOSE_SECONDS: Final = 5.0
"""How long a connection may stay open that is to end."""

Answered = Callable[[int | None], None]


class Session(asyncio.Protocol):
    """A connection, bound or not yet."""

    def __init__(
        self, backend: Backend, opened: Callable[["Session"], bool], closed: Callable[["Session"], None]
    ) -> None:
        """`opened` says whether it may stay."""
        self._backend, self._opened, self._closed = backend, opened, closed
        self._transport: asyncio.Transport | None = None
        self.address = ""
        self.bound: Bound | None = None
        self._rest = b""
        self._is_binding = False
        self._turns = Turns(backend.services.rate_limits)
        self._requests = 0
        """Requests without an answer."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._unanswered: dict[int, tuple[float, Answered]] = {}
        """Deliveries by their sequence number, with when they were sent."""
        self._sequences = count(1)
        self._opened_at = self._heard_at = time.monotonic()
        self._incomplete_since: float | None = None
        self._blocked_since: float | None = None
        self._enquired_at: float | None = None
        self._closes_at: float | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless there are too many."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass
        self._transport.set_write_buffer_limits(high=BUFFER)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        if not self._opened(self):
            self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Give back the deliveries that were not answered."""
        if self.bound is not None:
            if self.bound.receives:
                self._backend.deliverer.remove(self.bound.credential.id, self)
            self._backend.drop(self.bound)
            CUSTOMER_BINDS.labels(self.bound.kind).dec()
        unanswered, self._unanswered = self._unanswered, {}
        for _, answered in unanswered.values():
            answered(None)
        self._closed(self)

    def pause_writing(self) -> None:
        """Read nothing more until the answers are read."""
        self._blocked_since = time.monotonic()
        self._set_reading()

    def resume_writing(self) -> None:
        """Go on."""
        self._blocked_since = None
        self._set_reading()
        if self.bound is not None:
            self._backend.deliverer.wake(self.bound.credential.id)

    def data_received(self, data: bytes) -> None:
        """Handle all complete PDUs."""
        self._heard_at, self._enquired_at = time.monotonic(), None
        self._rest += data
        self._read()

    def _read(self) -> None:
        data, at = self._rest, 0
        while len(data) - at >= HEADER_SIZE and not self._is_binding and not self.is_closing:
            length, command, status, sequence = HEADER.unpack_from(data, at)
            if not HEADER_SIZE <= length <= MAX_PDU:
                self._write(Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, sequence)
                self._close()
                return
            if len(data) - at < length:
                break
            self._handle(command, status, sequence, data[at + HEADER_SIZE : at + length])
            at += length
        self._rest = data[at:]
        if at or self._incomplete_since is None:
            self._incomplete_since = time.monotonic() if self._rest and not self._is_binding else None

    def _handle(self, command: int, status: int, sequence: int, body: bytes) -> None:
        if command == Command.DELIVER_SM_RESP:
            if (known := self._unanswered.pop(sequence, None)) is not None:
                known[1](status)
        elif command == Command.UNBIND_RESP:
            self._close()
        elif command & RESPONSE:
            pass  # of an enquire_link: that it came is enough
        elif command == Command.ENQUIRE_LINK:
            self._write(Command.ENQUIRE_LINK_RESP, Status.ESME_ROK, sequence)
        elif command in KINDS:
            self._begin_bind(command, sequence, body)
        elif command == Command.UNBIND:
            status = Status.ESME_RINVBNDSTS if self.bound is None else Status.ESME_ROK
            self._write(Command.UNBIND_RESP, status, sequence)
            self._close()
        elif is_submit(command) or command in (Command.QUERY_SM, Command.CANCEL_SM):
            self._begin_request(command, sequence, body)
        else:
            self._write(Command.GENERIC_NACK, Status.ESME_RINVCMDID, sequence)

    def _begin_bind(self, command: int, sequence: int, body: bytes) -> None:
        if self.bound is not None or self._backend.stopping:
            status = Status.ESME_RALYBND if self.bound is not None else Status.ESME_RBINDFAIL
            self._refuse(command, sequence, RefusedPdu(status))
            return
        self._is_binding = True
        self._set_reading()
        self._start(self._bind(command, sequence, body))

    async def _bind(self, command: int, sequence: int, body: bytes) -> None:
        try:
            bound = await self._backend.bind(read_bind(body), KINDS[Command(command)], self.address)
        except Exception as error:
            status = refusal_of(error).status
            self._refuse(
                command, sequence, RefusedPdu(Status.ESME_RBINDFAIL if status == Status.ESME_RSYSERR else status)
            )
            self._close()
            return
        finally:
            self._is_binding = False
        if self.is_closing:
            self._backend.drop(bound)
            return
        self.bound = bound
        CUSTOMER_BINDS.labels(bound.kind).inc()
        self._write(command | RESPONSE, Status.ESME_ROK, sequence, c_string(SYSTEM_ID))
        if bound.receives:
            self._backend.deliverer.add(bound.credential.id, self)
        self._set_reading()
        self._read()

    def _begin_request(self, command: int, sequence: int, body: bytes) -> None:
        bound, status = self.bound, None
        if bound is None or (is_submit(command) and not bound.sends):
            status = Status.ESME_RINVBNDSTS
        elif self._requests >= bound.credential.window_size:
            status = Status.ESME_RTHROTTLED
        elif self._backend.stopping or self._closes_at is not None:
            status = Status.ESME_RSYSERR
        if bound is None or status is not None:
            self._refuse(command, sequence, RefusedPdu(status or Status.ESME_RSYSERR))
            self._observe(command, status or Status.ESME_RSYSERR)
            return
        self._requests += 1
        self._start(self._answer(bound, command, sequence, body))

    async def _answer(self, bound: Bound, command: int, sequence: int, body: bytes) -> None:
        began = time.monotonic()
        try:
            await self._turns.wait(bound.caller)
            if self.is_closing:
                return  # nobody would read the answer
            answer = await self._backend.answer(bound, command, body)
        except Exception as error:
            refused = refusal_of(error)
            self._refuse(command, sequence, refused)
            self._observe(command, refused.status, seconds=time.monotonic() - began)
        else:
            self._write(command | RESPONSE, Status.ESME_ROK, sequence, answer)
            self._observe(command, Status.ESME_ROK, answer, time.monotonic() - began)
        finally:
            self._requests -= 1

    def _observe(self, command: int, status: Status, answer: bytes = b"", seconds: float = 0.0) -> None:
        if is_submit(command):
            self._backend.submits.add(self.bound, Command(command), status, answer[:-1].decode(), seconds)

    def _refuse(self, command: int, sequence: int, refused: RefusedPdu) -> None:
        """Answer with an error: without a body (§4.4.2), unless there is a text to add."""
        body = b""
        if refused.text and is_submit(command):
            text = refused.text[:MAX_TEXT].encode("latin-1", "replace")
            body = b"\0" + tlv(Tag.ADDITIONAL_STATUS_INFO_TEXT, text + b"\0")
        self._write(command | RESPONSE, refused.status, sequence, body)

    @property
    def room(self) -> int:
        """How many more deliveries may be unanswered."""
        if self.bound is None or self._blocked_since is not None or self._closes_at is not None or self.is_closing:
            return 0
        return self.bound.credential.window_size - len(self._unanswered)

    def deliver(self, body: bytes, answered: Answered) -> None:
        """Send a deliver_sm. `answered` gets the status of its answer; None if the bind ends without one."""
        sequence = self._next_sequence()
        self._unanswered[sequence] = (time.monotonic(), answered)
        self._write(Command.DELIVER_SM, Status.ESME_ROK, sequence, body)

    def check(self, now: float) -> None:
        """End the session if the customer takes too long; ask whether they are there. Called every second."""
        sent_at = min((at for at, _ in self._unanswered.values()), default=now)
        if (
            (self.bound is None and not self._is_binding and now - self._opened_at > BIND_SECONDS)
            or now - (self._incomplete_since or now) > PDU_SECONDS
            or now - (self._blocked_since or now) > WRITE_SECONDS
            or now - (self._enquired_at or now) > ANSWER_SECONDS
            or now - sent_at > ANSWER_SECONDS
            or now > (self._closes_at or now)
        ):
            self.abort()
        elif now - self._heard_at > IDLE_SECONDS and self._enquired_at is None:
            self._enquired_at = now
            self._write(Command.ENQUIRE_LINK, Status.ESME_ROK, self._next_sequence())

    def unbind(self) -> None:
        """End the session politely: the customer may answer what is open."""
        if self._closes_at is None:
            self._write(Command.UNBIND, Status.ESME_ROK, self._next_sequence())
            self._closes_at = time.monotonic() + CLOSE_SECONDS

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    async def finished(self) -> None:
        """Wait for the answers to what was begun."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def is_closing(self) -> bool:
        """Whether nothing more is read from it."""
        return self._transport is None or self._transport.is_closing()

    def _close(self) -> None:
        """End the connection once the answers are written."""
        if self._transport is not None:
            self._transport.close()
            self._closes_at = time.monotonic() + CLOSE_SECONDS

    def _set_reading(self) -> None:
        if self._transport is None or self.is_closing:
            return
        if self._is_binding or self._blocked_since is not None:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _write(self, command: int, status: int, sequence: int, body: bytes = b"") -> None:
        if self._transport is not None and not self.is_closing:
            self._transport.write(pdu(command, status, sequence, body))

    def _next_sequence(self) -> int:
        return next(self._sequences) % MAX_SEQUENCE + 1

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
