"""The `Carrier` that speaks SMPP 3.4: one or two binds per worker process, and any number of submitting threads."""

import threading
import time
from collections.abc import Sequence
from weakref import WeakSet

from shared.carriers.smpp.constants import Command
from worker.carriers.base import (
    CarrierInbox,
    MessageGroup,
    Outcome,
    Pace,
    UnlimitedPace,
)
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.counters import Counters
from worker.carriers.smpp.deliveries import Deliveries
from worker.carriers.smpp.link import Link
from worker.carriers.smpp.multipart import MultipartMessages
from worker.carriers.smpp.parts import References
from worker.carriers.smpp.session import Session
from worker.carriers.smpp.status import NOT_CONNECTED, CarrierResponse
from worker.carriers.smpp.submission import Submission
from worker.carriers.smpp.wire import Wire

CONNECT_PATIENCE = 1.0
"""Seconds that `submit` waits for a connection."""
FIRST_WAIT, MAX_WAIT, MAX_ROUNDS = 0.1, 2.0, 8
"""Retries of temporarily refused parts if the message's other parts were accepted: seconds between them, and number."""
KINDS = {
    "transceiver": (Command.BIND_TRANSCEIVER,),
    "transmitter+receiver": (Command.BIND_TRANSMITTER, Command.BIND_RECEIVER),
}


class SmppCarrier:
    """One SMPP account as a carrier."""

    def __init__(self, config: SmppConfig) -> None:
        self.name = config.name
        self.rate = config.rate
        self.pace: Pace = UnlimitedPace()
        self._config = config
        self._window = config.window
        self._counters = Counters()
        self._multiparts = MultipartMessages()
        self._references = References()
        self._deliveries = Deliveries(config, self._counters, self._multiparts)
        self._links = [Link(config, kind, self._session) for kind in KINDS[config.bind]]
        self._closing = threading.Event()
        self._sessions: WeakSet[Session] = WeakSet()
        self._resizing = threading.Lock()

    def _session(self, wire: Wire) -> Session:
        session = Session(wire, self._config, self._deliveries, self._counters, self._multiparts)
        with self._resizing:
            session.windows.resize(self._window)
            self._sessions.add(session)
        return session

    @property
    def window(self) -> int:
        """Most outstanding submits. A change also applies to open connections, and those that are being bound."""
        return self._window

    @window.setter
    def window(self, size: int) -> None:
        """Resize the window."""
        with self._resizing:
            self._window = size
            for session in self._sessions:
                session.windows.resize(size)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be submitted: the bind's state and error; None while bound."""
        return self._links[0].trouble

    def open(self, inbox: CarrierInbox) -> None:
        """Begin to connect, and to deliver receipts, late responses and inbound messages. Returns at once."""
        self._deliveries.start(inbox)
        for link in self._links:
            link.start()

    def submit(self, message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
        """Submit the messages pipelined. Returns one outcome each, in order, within the response timeout plus a second.

        A message without a response is in doubt if any of it may have been written, and throttled if not.
        """
        submission = Submission(self._config, self._references, message_groups, limit)
        deadline = time.monotonic() + self._config.response_timeout
        if submission.multiparts is None:
            submission.responses = self._exchange(submission, range(len(submission.bodies)), deadline)
            return submission.outcomes()
        ticket = self._multiparts.begin(part[0].phone for part in submission.multiparts if part is not None)
        try:
            submission.responses = self._exchange(submission, range(len(submission.bodies)), deadline)
            self._retry_parts(submission, deadline)
            return submission.outcomes()
        finally:
            self._multiparts.end(ticket)

    def _retry_parts(self, submission: Submission, deadline: float) -> None:
        """Resubmit temporarily refused parts of messages whose other parts were accepted."""
        wait = FIRST_WAIT
        for _ in range(MAX_ROUNDS):
            parts = submission.left_over()
            if not parts or time.monotonic() + wait > deadline or self._closing.wait(wait):
                return
            for index, response in zip(parts, self._exchange(submission, parts, deadline), strict=True):
                submission.responses[index] = response
            wait = min(MAX_WAIT, 2 * wait)

    def _exchange(self, submission: Submission, indexes: Sequence[int], deadline: float) -> list[CarrierResponse]:
        session = self._links[0].session(CONNECT_PATIENCE) if indexes else None
        if session is None:
            return [NOT_CONNECTED] * len(indexes)
        return session.exchange(submission, indexes, deadline, self.pace)

    @property
    def unreadable(self) -> int:
        """Receipts and other PDUs that could not be read."""
        return self._counters.unreadable

    @property
    def unmatched_responses(self) -> int:
        """Responses whose sequence number matches no outstanding request."""
        return self._counters.unmatched_responses

    def close(self) -> None:
        """Store and acknowledge pending receipts, wait up to two seconds for responses, unbind, and close."""
        self._closing.set()
        self._deliveries.stop()
        for link in self._links:
            link.close()
        self._deliveries.late_responses.stop()
