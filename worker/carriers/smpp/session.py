"""One connection's life: the reader's thread takes it all in, and those who submit write to it themselves."""

import time
from collections.abc import Sequence
from typing import Protocol

from shared.carriers.smpp.numbers import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, Bind, bind_body, pdu
from worker.carriers.base import Pace
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.counters import Counters
from worker.carriers.smpp.ids import LONGEST, answer_id
from worker.carriers.smpp.longs import Longs
from worker.carriers.smpp.status import NOT_CONNECTED, CarrierAnswer
from worker.carriers.smpp.submission import Submission
from worker.carriers.smpp.window import SUBMIT_SM_RESP, Window, Windows, chunks_of, take_answers, untouched_of
from worker.carriers.smpp.wire import TICK, Wire
from worker.carriers.smpp.writer import Writer

DRAIN_TIME = 2.0
"""Seconds that what is unanswered is given when one side wants to part."""


class Lost(Exception):
    """The connection is over. Says why."""


class Refused(Exception):
    """The carrier does not bind us; `status` is its answer."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Inbox(Protocol):
    """Who takes what the carrier says of itself. Called by the reader: it must not wait."""

    def put(self, session: "Session", command: int, sequence: int, body: bytes) -> None:
        """A deliver_sm or data_sm."""

    def late(self, submission: Submission, index: int, answer: CarrierAnswer) -> None:
        """The answer to a PDU that was given up."""


class Session:
    """A connection to the carrier. `bind`, then `serve` in one thread; `exchange` and `answer` from any."""

    def __init__(self, wire: Wire, config: SmppConfig, inbox: Inbox, counters: Counters, longs: Longs) -> None:
        self.windows = Windows(config.window)
        self._wire = wire
        self._config = config
        self._inbox = inbox
        self._counters = counters
        self._longs = longs
        self._spelling = answer_id(config)
        self._rest = b""
        self._writer = Writer(wire)
        self._heard = time.monotonic()
        self._asked: float | None = None
        self._leave_by: float | None = None
        self._unbind_sequence = 0

    # --- submitting -----------------------------------------------------------------------------------------------

    def exchange(
        self, submission: Submission, indexes: Sequence[int], deadline: float, pace: Pace
    ) -> list[CarrierAnswer]:
        """Submit these PDUs at that pace and wait for their answers, until `deadline` on the monotonic clock."""
        window = self.windows.open(submission, indexes)
        if window is None:
            return [NOT_CONNECTED] * len(indexes)
        untouched = self._send(window, deadline, pace)
        self.windows.complete(window, untouched)
        window.done.wait(max(0.0, deadline - time.monotonic()))
        answers = self.windows.close(window, untouched)
        self._counters.submitted += window.sent
        self._counters.given_up += answers.count(None)
        if self._spelling is not None:
            answers = [self._spelling(each) if isinstance(each, str) else each for each in answers]
        return answers

    def _send(self, window: Window, deadline: float, pace: Pace) -> int:
        """Write the window's PDUs, as many at a time as there is room for and as the pace wants together.

        Returns how many of those that count as sent have certainly not left.
        """
        chunks = chunks_of(window)
        cost, limit, at = window.submission.cost, window.submission.limit, 0
        while at < len(window.indexes):
            chunk = pace.chunk
            most = max(1, chunk // cost) if chunk else len(chunks)
            if limit is not None and limit.chunk:
                most = min(most, len(window.indexes) - at, max(1, limit.chunk // cost))
                if not limit.take(most * cost, deadline):
                    return 0
            taken = self.windows.take(window, deadline, most)
            if not taken or (chunk and not pace.take(taken * cost, deadline)):
                return taken
            part = chunks[3 * at : 3 * (at + taken)]
            data = b"".join(part)
            left = self._writer.write(data, deadline)
            if left < len(data):
                return untouched_of(part, left)
            at += taken
        return 0

    def answer(self, data: bytes) -> None:
        """Write answers to the carrier's requests; not for the reader's thread."""
        self._writer.write(data, time.monotonic() + self._config.connect_time)

    def say(self, data: bytes) -> None:
        """Write a little for the reader's thread, without waiting."""
        self._writer.say(data)

    # --- the reader -----------------------------------------------------------------------------------------------

    def bind(self, command: Command) -> None:
        """Introduce ourselves. What the carrier delivers before its answer is taken in by `serve`.

        Raises Refused, Lost or OSError.
        """
        body = bind_body(Bind(self._config.system_id, self._config.password, self._config.system_type))
        deadline = time.monotonic() + self._config.connect_time
        self._writer.write(pdu(command, 0, self.windows.next_sequence(), body), deadline)
        data, early = b"", b""
        while time.monotonic() < deadline:
            come = self._wire.read()
            if come == b"":
                raise Lost("the carrier closed the connection instead of answering the bind")
            data += come or b""
            while len(data) >= HEADER_SIZE:
                length, answer, status, sequence = HEADER.unpack_from(data)
                if not HEADER_SIZE <= length <= self._config.max_pdu or len(early) > self._config.max_pdu:
                    raise Lost("the carrier answered the bind with something else")
                if answer == Command.GENERIC_NACK or (answer == command | RESPONSE and status):
                    raise Refused(status)
                if len(data) < length:
                    break
                whole, data = data[:length], data[length:]
                if answer == command | RESPONSE:
                    self._rest = early + data
                    return
                if answer == Command.ENQUIRE_LINK:
                    self.say(pdu(Command.ENQUIRE_LINK_RESP, 0, sequence))
                elif answer & RESPONSE or answer == Command.UNBIND:
                    raise Lost("the carrier answered the bind with something else")
                else:
                    early += whole
        raise Lost("the carrier did not answer the bind")

    def serve(self) -> None:
        """Take in what comes until the connection is over. Always ends by raising Lost or OSError."""
        looked = 0.0
        self.feed(b"")
        while True:
            data = self._wire.read()
            if data == b"":
                raise Lost("the carrier closed the connection")
            now = time.monotonic()
            if data:
                self._heard = now
                self._asked = None
                self.feed(data)
            if now - looked >= TICK:
                looked = now
                self._keep_alive(now)

    def _keep_alive(self, now: float) -> None:
        """Ask a silent carrier whether it lives, and part when it is time."""
        if self._leave_by is not None and (now >= self._leave_by or not self.windows.unanswered()):
            self.say(pdu(Command.UNBIND_RESP, 0, self._unbind_sequence))
            raise Lost("the carrier unbound us")
        if self._asked is not None and now - self._asked > self._config.connect_time:
            raise Lost("the carrier does not answer")
        if self._asked is None and now - self._heard > self._config.enquire_link:
            self._asked = now
            with self.windows.lock:
                sequence = self.windows.next_sequence()
            self.say(pdu(Command.ENQUIRE_LINK, 0, sequence))
        self._writer.say_now()

    def feed(self, data: bytes) -> None:
        """Take in the next octets. Raises Lost where the border of the next PDU is not known any more."""
        if self._rest:
            data = self._rest + data
        text = data.decode("latin-1")
        at, size = 0, len(data)
        with self.windows.lock:
            while size - at >= HEADER_SIZE:
                length, command, status, sequence = HEADER.unpack_from(data, at)
                if not HEADER_SIZE <= length <= self._config.max_pdu:
                    self._counters.malformed += 1
                    self.say(pdu(Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, 0))
                    raise Lost("the carrier sent a PDU of an impossible length")
                if at + length > size:
                    break
                window = self.windows.find(sequence) if command == SUBMIT_SM_RESP else None
                if window is not None and not window.closed and window.submission.longs is None:
                    missing = window.missing
                    end = take_answers(window, data, text, at)
                    self.windows.answered += missing - window.missing
                    if end != at:
                        at = end
                        continue
                self._handle(command, status, sequence, data[at + HEADER_SIZE : at + length])
                at += length
            self.windows.flush()
        self._rest = data[at:]

    def _handle(self, command: int, status: int, sequence: int, body: bytes) -> None:
        """One PDU; the lock of the windows is held."""
        match command:
            case Command.DELIVER_SM | Command.DATA_SM:
                self._inbox.put(self, command, sequence, body)
            case Command.SUBMIT_SM_RESP:
                self._answered(sequence, status or self._id_in(body))
            case Command.ENQUIRE_LINK:
                self.say(pdu(Command.ENQUIRE_LINK_RESP, 0, sequence))
            case Command.GENERIC_NACK:
                self._counters.nacked += 1
                self._answered(sequence, status or Status.ESME_RUNKNOWNERR)
            case Command.UNBIND:
                self.windows.draining = True
                self._unbind_sequence = sequence
                self._leave_by = time.monotonic() + DRAIN_TIME
            case Command.UNBIND_RESP:
                raise Lost("unbound")
            case Command.ENQUIRE_LINK_RESP | Command.ALERT_NOTIFICATION | Command.OUTBIND:
                pass  # that something came is all they say
            case _ if command & RESPONSE:
                self._counters.unknown_answers += 1
            case _:
                self._counters.nacked += 1
                self.say(pdu(Command.GENERIC_NACK, Status.ESME_RINVCMDID, sequence))

    def _id_in(self, body: bytes) -> str:
        """The id in a submit_sm_resp; none where it cannot be kept, as the message is accepted all the same."""
        end = body.find(b"\0")
        if not body or 0 <= end <= LONGEST:
            return body[:end].decode("latin-1") if body else ""
        self._counters.malformed += 1
        return ""

    def _answered(self, sequence: int, answer: CarrierAnswer) -> None:
        window = self.windows.find(sequence)
        if window is None or window.answers[sequence - window.first] is not None:
            self._counters.unknown_answers += 1
            return
        offset = sequence - window.first
        window.answers[offset] = answer
        if isinstance(answer, str) and self._spelling is not None:
            answer = self._spelling(answer)
        self._know_part(window, window.indexes[offset], answer)
        if window.closed:
            self._counters.late += 1
            self._inbox.late(window.submission, window.indexes[offset], answer)
            return
        window.missing -= 1
        self.windows.answered += 1
        if window.missing == 0:
            window.done.set()

    def _know_part(self, window: Window, index: int, answer: CarrierAnswer) -> None:
        part = window.submission.longs[index] if window.submission.longs is not None else None
        if part is not None and answer and isinstance(answer, str):
            self._longs.add(answer, part[1], part[0])

    # --- the end --------------------------------------------------------------------------------------------------

    def part(self) -> None:
        """Leave gracefully: let what is unanswered come in, for DRAIN_TIME, then unbind."""
        self.windows.drain()
        deadline = time.monotonic() + DRAIN_TIME
        while self.windows.unanswered() and time.monotonic() < deadline:
            time.sleep(0.01)
        with self.windows.lock:
            sequence = self.windows.next_sequence()
        self._writer.write(pdu(Command.UNBIND, 0, sequence), time.monotonic() + 1)

    def end(self) -> None:
        """The connection is over: nobody shall wait for it any longer."""
        self._writer.stop()
        self.windows.lose()
        self._wire.close()
