"""One connection, from bind to unbind: a reader thread handles incoming PDUs; submitting threads write directly."""

import time
from collections.abc import Sequence
from typing import Protocol

from shared.carriers.smpp.constants import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, Bind, bind_body, pdu
from worker.carriers.base import Pace
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.counters import Counters
from worker.carriers.smpp.ids import MAX_MESSAGE_ID_LENGTH, PADDING, answer_id
from worker.carriers.smpp.multipart import MultipartMessages
from worker.carriers.smpp.status import NOT_CONNECTED, CarrierResponse
from worker.carriers.smpp.submission import Submission
from worker.carriers.smpp.window import SUBMIT_SM_RESP, Window, Windows, pdu_parts, take_responses, untouched_of
from worker.carriers.smpp.wire import TICK, Wire
from worker.carriers.smpp.writer import Writer

DRAIN_TIME = 2.0
"""Seconds to wait for outstanding responses when either side unbinds."""


class Lost(Exception):
    """The connection is over. The text gives the reason."""


class Refused(Exception):
    """The carrier refused the bind with `status`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Inbox(Protocol):
    """Receives what the carrier sends on its own initiative. Called by the reader thread: must not block."""

    def put(self, session: "Session", command: int, sequence: int, body: bytes) -> None:
        """Take a deliver_sm or data_sm."""

    def late(self, submission: Submission, index: int, response: CarrierResponse) -> None:
        """Take a late response to a PDU that `submit` has stopped waiting for."""


class Session:
    """A connection to the carrier. `bind`, then `serve` in one thread; `exchange` and `answer` from any."""

    def __init__(
        self, wire: Wire, config: SmppConfig, inbox: Inbox, counters: Counters, multiparts: MultipartMessages
    ) -> None:
        self.windows = Windows(config.window)
        self._wire = wire
        self._config = config
        self._inbox = inbox
        self._counters = counters
        self._multiparts = multiparts
        self._convert_id = answer_id(config)
        self._rest = b""
        self._writer = Writer(wire)
        self.ended_at: float | None = None
        """When the connection was closed, on the monotonic clock."""
        self.heard_at = time.monotonic()
        """When the carrier last sent something, on the monotonic clock."""
        self._enquired_at: float | None = None
        self._leave_by: float | None = None
        self._unbind_sequence = 0

    # --- submitting -----------------------------------------------------------------------------------------------

    def exchange(
        self, submission: Submission, indexes: Sequence[int], deadline: float, pace: Pace
    ) -> list[CarrierResponse]:
        """Submit these PDUs at this pace and wait for their responses, until `deadline` on the monotonic clock."""
        window = self.windows.open(submission, indexes)
        if window is None:
            return [NOT_CONNECTED] * len(indexes)
        untouched = self._send(window, deadline, pace)
        self.windows.complete(window, untouched)
        window.done.wait(max(0.0, deadline - time.monotonic()))
        responses = self.windows.close(window, untouched)
        if self._convert_id is not None:
            responses = [self._convert_id(each) if isinstance(each, str) else each for each in responses]
        return responses

    def _send(self, window: Window, deadline: float, pace: Pace) -> int:
        """Write the window's PDUs, as many at a time as there are free slots and the pace allows.

        Returns how many of the PDUs that count as sent were certainly not written.
        """
        chunks = pdu_parts(window)
        cost, limit, at = window.submission.cost, window.submission.limit, 0
        while at < len(window.indexes):
            chunk = pace.chunk
            count = max(1, chunk // cost) if chunk else len(chunks)
            if limit is not None and limit.chunk:
                count = min(count, len(window.indexes) - at, max(1, limit.chunk // cost))
                if not limit.take(count * cost, deadline):
                    return 0
            taken = self.windows.take(window, deadline, count)
            if not taken or (chunk and not pace.take(taken * cost, deadline)):
                return taken
            part = chunks[3 * at : 3 * (at + taken)]
            data = b"".join(part)
            written = self._writer.write(data, deadline)
            if written < len(data):
                return untouched_of(part, written)
            at += taken
        return 0

    def answer(self, data: bytes) -> None:
        """Write responses to the carrier's requests. Not for the reader thread, as it blocks."""
        self._writer.write(data, time.monotonic() + self._config.connect_timeout)

    def say(self, data: bytes) -> None:
        """Write from the reader thread, without blocking."""
        self._writer.say(data)

    # --- the reader -----------------------------------------------------------------------------------------------

    def bind(self, command: Command) -> None:
        """Bind. What the carrier delivers before its bind response is handled by `serve`.

        Raises Refused, Lost or OSError.
        """
        body = bind_body(Bind(self._config.system_id, self._config.password, self._config.system_type))
        deadline = time.monotonic() + self._config.connect_timeout
        self._writer.write(pdu(command, 0, self.windows.next_sequence(), body), deadline)
        data, early = b"", b""
        while time.monotonic() < deadline:
            received = self._wire.read()
            if received == b"":
                raise Lost("the carrier closed the connection instead of answering the bind")
            data += received or b""
            while len(data) >= HEADER_SIZE:
                length, answer, status, sequence = HEADER.unpack_from(data)
                if not HEADER_SIZE <= length <= self._config.max_pdu or len(early) > self._config.max_pdu:
                    raise Lost("the carrier answered the bind with an unexpected PDU")
                if answer == Command.GENERIC_NACK or (answer == command | RESPONSE and status):
                    raise Refused(status)
                if len(data) < length:
                    break
                whole_pdu, data = data[:length], data[length:]
                if answer == command | RESPONSE:
                    self._rest = early + data
                    return
                if answer == Command.ENQUIRE_LINK:
                    self.say(pdu(Command.ENQUIRE_LINK_RESP, 0, sequence))
                elif answer & RESPONSE or answer == Command.UNBIND:
                    raise Lost("the carrier answered the bind with an unexpected PDU")
                else:
                    early += whole_pdu
        raise Lost("the carrier did not answer the bind")

    def serve(self) -> None:
        """Handle incoming PDUs until the connection is over. Always ends by raising Lost or OSError."""
        last_check = 0.0
        self.feed(b"")
        while True:
            data = self._wire.read()
            if data == b"":
                raise Lost("the carrier closed the connection")
            now = time.monotonic()
            if data:
                self.heard_at = now
                self._enquired_at = None
                self.feed(data)
            if now - last_check >= TICK:
                last_check = now
                self._keep_alive(now)

    def _keep_alive(self, now: float) -> None:
        """Send an enquire_link to a silent carrier, and complete an unbind when it is time."""
        if self._leave_by is not None and (now >= self._leave_by or not self.windows.unanswered()):
            self.say(pdu(Command.UNBIND_RESP, 0, self._unbind_sequence))
            raise Lost("the carrier sent an unbind")
        if self._enquired_at is not None and now - self._enquired_at > self._config.connect_timeout:
            raise Lost("the carrier did not answer the enquire_link")
        if self._enquired_at is None and now - self.heard_at > self._config.enquire_link:
            self._enquired_at = now
            with self.windows.lock:
                sequence = self.windows.next_sequence()
            self.say(pdu(Command.ENQUIRE_LINK, 0, sequence))
        self._writer.say_now()

    def feed(self, data: bytes) -> None:
        """Handle the next octets. Raises Lost if PDU framing is lost."""
        if self._rest:
            data = self._rest + data
        text = data.decode("latin-1")
        at, size = 0, len(data)
        with self.windows.lock:
            while size - at >= HEADER_SIZE:
                length, command, status, sequence = HEADER.unpack_from(data, at)
                if not HEADER_SIZE <= length <= self._config.max_pdu:
                    self._counters.unreadable += 1
                    self.say(pdu(Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, 0))
                    raise Lost("the carrier sent a PDU of an invalid length")
                if at + length > size:
                    break
                window = self.windows.find(sequence) if command == SUBMIT_SM_RESP else None
                if window is not None and not window.closed and window.submission.multiparts is None:
                    missing = window.missing
                    end = take_responses(window, data, text, at)
                    self.windows.answered += missing - window.missing
                    if end != at:
                        at = end
                        continue
                self._handle(command, status, sequence, data[at + HEADER_SIZE : at + length])
                at += length
            self.windows.flush()
        self._rest = data[at:]

    def _handle(self, command: int, status: int, sequence: int, body: bytes) -> None:
        """Handle one PDU. The caller holds the windows' lock."""
        match command:
            case Command.DELIVER_SM | Command.DATA_SM:
                self._inbox.put(self, command, sequence, body)
            case Command.SUBMIT_SM_RESP:
                self._answered(sequence, status or self._id_in(body))
            case Command.ENQUIRE_LINK:
                self.say(pdu(Command.ENQUIRE_LINK_RESP, 0, sequence))
            case Command.GENERIC_NACK:
                self._answered(sequence, status or Status.ESME_RUNKNOWNERR)
            case Command.UNBIND:
                self.windows.draining = True
                self._unbind_sequence = sequence
                self._leave_by = time.monotonic() + DRAIN_TIME
            case Command.UNBIND_RESP:
                raise Lost("unbound")
            case Command.ENQUIRE_LINK_RESP | Command.ALERT_NOTIFICATION | Command.OUTBIND:
                pass  # they only prove that the link is alive
            case _ if command & RESPONSE:
                self._counters.unmatched_responses += 1
            case _:
                self.say(pdu(Command.GENERIC_NACK, Status.ESME_RINVCMDID, sequence))

    def _id_in(self, body: bytes) -> str:
        """The id in a submit_sm_resp; empty if it is too long. The message is accepted either way."""
        end = body.find(b"\0")
        if not body or 0 <= end <= MAX_MESSAGE_ID_LENGTH:
            return body[:end].decode("latin-1").rstrip(PADDING) if body else ""
        self._counters.unreadable += 1
        return ""

    def _answered(self, sequence: int, response: CarrierResponse) -> None:
        window = self.windows.find(sequence)
        if window is None or window.responses[sequence - window.first] is not None:
            self._counters.unmatched_responses += 1
            return
        offset = sequence - window.first
        window.responses[offset] = response
        if isinstance(response, str) and self._convert_id is not None:
            response = self._convert_id(response)
        self._record_part_id(window, window.indexes[offset], response)
        if window.closed:
            self._inbox.late(window.submission, window.indexes[offset], response)
            return
        window.missing -= 1
        self.windows.answered += 1
        if window.missing == 0:
            window.done.set()

    def _record_part_id(self, window: Window, index: int, response: CarrierResponse) -> None:
        part = window.submission.multiparts[index] if window.submission.multiparts is not None else None
        if part is not None and response and isinstance(response, str):
            self._multiparts.add(response, part[1], part[0])

    # --- the end --------------------------------------------------------------------------------------------------

    def part(self) -> None:
        """Unbind gracefully: wait up to DRAIN_TIME for outstanding responses, then send an unbind."""
        self.windows.drain()
        deadline = time.monotonic() + DRAIN_TIME
        while self.windows.unanswered() and time.monotonic() < deadline:
            time.sleep(0.01)
        with self.windows.lock:
            sequence = self.windows.next_sequence()
        self._writer.write(pdu(Command.UNBIND, 0, sequence), time.monotonic() + 1)

    def end(self) -> None:
        """Close the connection, and wake everyone who waits for it."""
        self.ended_at = time.monotonic()
        self._writer.stop()
        self.windows.lose()
        self._wire.close()
