"""The outstanding submit_sm PDUs of one connection, and the limit on their number."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from itertools import chain
from struct import pack

from shared.carriers.smpp.constants import MAX_SEQUENCE, Command
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE
from worker.carriers.smpp.status import NOT_CONNECTED, WINDOW_FULL, CarrierResponse
from worker.carriers.smpp.submission import Submission

MAX_LATE_PDUS = 50_000
"""Timed-out PDUs that are remembered in case a late response comes."""
SUBMIT_SM_RESP = int(Command.SUBMIT_SM_RESP)
BLANK = ord(" ")


class Window:
    """PDUs with consecutive sequence numbers. Their responses are indexed by sequence number minus `first`."""

    __slots__ = ("closed", "done", "first", "indexes", "missing", "responses", "sent", "submission")

    def __init__(self, submission: Submission, indexes: Sequence[int], first: int) -> None:
        self.submission = submission
        self.indexes = indexes
        """Indexes of these PDUs in their submission."""
        self.first = first
        self.responses: list[CarrierResponse] = [None] * len(indexes)
        self.missing = len(indexes)
        self.sent = 0
        """PDUs that may have been written. Only they can have a response."""
        self.closed = False
        """Whether `submit` has stopped waiting: responses from now on are late."""
        self.done = threading.Event()


class Windows:
    """All windows of one connection, guarded by `lock`. Methods that need the lock expect the caller to hold it."""

    def __init__(self, size: int) -> None:
        self.lock = threading.Lock()
        self.lost = False
        self.draining = False
        """Whether no new PDUs may be sent."""
        self.answered = 0
        """Answers whose slots are not freed yet: `flush` frees those of one read together."""
        self._room = threading.Condition(self.lock)
        self._free = size
        self._size = size
        self._sequence = 0
        self._open: list[Window] = []
        self._late: deque[tuple[Window, int]] = deque()
        self._late_size = 0

    def next_sequence(self, count: int = 1) -> int:
        """The first of `count` consecutive sequence numbers. Needs the lock."""
        if self._sequence + count > MAX_SEQUENCE:
            self._sequence = 0
        first = self._sequence + 1
        self._sequence += count
        return first

    def open(self, submission: Submission, indexes: Sequence[int]) -> Window | None:
        """A window for these PDUs; None when the connection is lost or draining."""
        with self.lock:
            if self.lost or self.draining:
                return None
            window = Window(submission, indexes, self.next_sequence(len(indexes)))
            self._open.append(window)
            return window

    def take(self, window: Window, deadline: float, limit: int) -> int:
        """Take slots for up to `limit` unsent PDUs, which then count as sent. Returns how many; 0: late or lost."""
        wanted = min(limit, len(window.indexes) - window.sent)
        with self._room:
            enough = min(wanted, max(1, self._size // 8))  # avoids a write for every single response
            while self._free < enough and not self.lost and not self.draining:
                left = deadline - time.monotonic()
                if left <= 0 or not self._room.wait(left):
                    return 0
            if self.lost or self.draining:
                return 0
            taken = min(wanted, self._free)
            self._free -= taken
            window.sent += taken
            return taken

    def resize(self, size: int) -> None:
        """Change the limit on outstanding PDUs."""
        with self._room:
            self._free += size - self._size
            self._size = size
            self._room.notify_all()

    def flush(self) -> None:
        """Free the slots of answered PDUs. Needs the lock."""
        if self.answered:
            self._free += self.answered
            self.answered = 0
            self._room.notify_all()

    def complete(self, window: Window, untouched: int) -> None:
        """Mark the window as fully written. The last `untouched` of its sent PDUs were not written: their slots are
        freed, and no responses to them are awaited."""
        with self.lock:
            window.sent -= untouched
            self.answered += untouched
            self.flush()
            window.missing -= len(window.indexes) - window.sent
            if window.missing == 0:
                window.done.set()

    def close(self, window: Window, untouched: int) -> list[CarrierResponse]:
        """Stop waiting, and return the responses. The slots of unanswered PDUs are freed too: otherwise responses that
        the carrier lost would block the window for good. `untouched` is as in `complete`."""
        with self.lock:
            never_written = NOT_CONNECTED if self.lost or untouched else WINDOW_FULL
            unanswered = window.responses[: window.sent].count(None)
            window.closed = True
            self._open.remove(window)
            self.answered += unanswered
            self.flush()
            if unanswered and not self.lost:
                self._late.append((window, len(window.responses)))  # all of it is kept
                self._late_size += len(window.responses)
            while self._late_size > MAX_LATE_PDUS:
                self._late_size -= self._late.popleft()[1]
            return window.responses[: window.sent] + [never_written] * (len(window.responses) - window.sent)

    def find(self, sequence: int) -> Window | None:
        """The window that sent this sequence number. Needs the lock."""
        for window in chain(self._open, (late for late, _ in self._late)):
            if 0 <= sequence - window.first < window.sent:
                return window
        return None

    def lose(self) -> None:
        """Mark the connection as lost, and wake everyone who waits for it."""
        with self._room:
            self.lost = True
            self._room.notify_all()
            for window in self._open:
                window.done.set()

    def drain(self) -> None:
        """Send nothing new from now on."""
        with self._room:
            self.draining = True
            self._room.notify_all()

    def unanswered(self) -> int:
        """The number of PDUs whose response is awaited."""
        with self.lock:
            return sum(window.responses[: window.sent].count(None) for window in self._open)


def pdu_parts(window: Window) -> list[bytes]:
    """Head, sequence number and body of each PDU, one after another."""
    submission, indexes = window.submission, window.indexes
    count = len(indexes)
    numbers = pack(f">{count}I", *range(window.first, window.first + count))
    chunks = [b""] * (3 * count)
    chunks[0::3] = [submission.heads[index] for index in indexes]
    chunks[1::3] = [numbers[at : at + 4] for at in range(0, 4 * count, 4)]
    chunks[2::3] = [submission.bodies[index] for index in indexes]
    return chunks


def untouched_of(chunks: list[bytes], written: int) -> int:
    """The number of PDUs of which nothing was written, if `written` octets may have been."""
    for at in range(0, len(chunks), 3):
        if written <= 0:
            return (len(chunks) - at) // 3
        written -= sum(map(len, chunks[at : at + 3]))
    return 0


def take_responses(window: Window, data: bytes, text: str, at: int) -> int:
    """Record consecutive plain responses to this window, from `at` on. Returns the offset where they end.

    This loop runs for every message, so it creates only the id and leaves everything unusual to the session.
    """
    unpack = HEADER.unpack_from
    first, responses, sent = window.first, window.responses, window.sent
    last = len(data) - HEADER_SIZE
    missing = window.missing
    while at <= last:
        length, command, status, sequence = unpack(data, at)
        end = at + length
        offset = sequence - first
        if (
            command != SUBMIT_SM_RESP
            or not 0 <= offset < sent
            or responses[offset] is not None
            or not 17 <= length <= 80
            or end - HEADER_SIZE > last
            or data[end - 1]
            or data[end - 2] == BLANK
        ):
            break
        responses[offset] = status or text[at + 16 : text.find("\0", at + 16, end)]
        missing -= 1
        at = end
    window.missing = missing
    if missing == 0:
        window.done.set()
    return at
