"""The simulated carrier: no phone gets a message, everything else is real.

A message's outcome depends on its phone alone. Country code 999 is unassigned; the two digits after it choose the
outcome, so `99901…` is never delivered:

    99901  undelivered                 99906  no response and no receipt
    99902  rejected by the carrier     99907  receipt before the response
    99903  throttled, then accepted    99908  two receipts
    99904  slow response               99909  no receipt
    99905  no response, receipt later  99910  fails three times

Messages to all other phones are delivered. Receipts come asynchronously, `receipt_delay` seconds later. Like a real
carrier's, they survive our crashes: they are stored in the simulator's own tables and redelivered until we take them.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from sqlalchemy import Engine, bindparam, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

from shared.db.connection import copy_rows, transaction
from shared.db.tables.running import simulated_receipt
from shared.lifecycle import MessageStatus
from worker.carriers.base import (
    CarrierInbox,
    MessageGroup,
    Outcome,
    Pace,
    Receipt,
    ResponseKind,
    UnlimitedPace,
    unsubmitted,
)

log = logging.getLogger(__name__)

UNDELIVERED, REJECTED, THROTTLED, SLOW, SILENT_TAKEN, SILENT, EARLY, TWICE, NEVER, FAILING = (
    f"999{outcome:02d}" for outcome in range(1, 11)
)

EARLY_SECONDS = 0.2
"""Delay of the response to a message whose receipt comes first."""
PATIENCE = 10.0
"""Seconds for a window to be submitted; messages not submitted by then are returned as throttled."""
NOT_IN_TIME = unsubmitted("not_in_time")
POLL_SECONDS, REST_SECONDS = 0.05, 0.5
"""Seconds between polls for due receipts: after this process has submitted, and otherwise."""

WAITING = simulated_receipt.alias("due")
DUE = (
    select(WAITING.c.id)
    .where(WAITING.c.due_at <= func.statement_timestamp(), WAITING.c.carrier == bindparam("carrier"))
    .order_by(WAITING.c.due_at)
    .limit(2000)
    .with_for_update(skip_locked=True)
)
TAKE_DUE = (
    delete(simulated_receipt)
    .where(simulated_receipt.c.id.in_(DUE))
    .returning(*simulated_receipt.c["reference", "phone", "status", "error", "due_at"])
)


class Simulator:
    """A deterministic carrier in the worker's process."""

    trouble: str | None = None
    """Always None; tests set it."""
    unreadable, unmatched_responses = 0, 0

    def __init__(
        self,
        engine: Engine,
        rate: float = 0.0,
        window: int = 400,
        receipt_delay: float = 1.0,
        round_trip: float = 0.0,
        response_delay: float = 1.0,
        name: str = "simulator",
    ) -> None:
        self.name = name
        self.pace: Pace = UnlimitedPace()
        self.rate = rate
        self.window = window
        self._engine = engine
        self._delay = timedelta(seconds=receipt_delay)
        self._round_trip = round_trip
        self.response_delay = response_delay
        """Seconds until a slow response, and until a missing one is given up."""
        self._prefix = secrets.token_hex(5)
        self._numbers = count(1)
        self._throttled: set[str] = set()
        self._stop = threading.Event()
        self._submitted = threading.Event()
        self._awake_until = 0.0
        self._thread: threading.Thread | None = None
        self.on_receipts: Callable[[list[Receipt]], None] = lambda receipts: None

    def open(self, inbox: CarrierInbox) -> None:
        """Begin to deliver receipts, in a separate thread. There are no inbound messages."""
        self.on_receipts = inbox.store_receipts
        self._thread = threading.Thread(target=self._deliver, name="simulator", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop delivering receipts. Another worker delivers the remaining ones."""
        self._stop.set()
        self._submitted.set()
        if self._thread is not None:
            self._thread.join(5)

    def submit(self, message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
        """Return each message's outcome by its phone; store the accepted submits and their future receipts."""
        submits: list[str] = []
        receipts: list[str] = []
        outcomes = []
        waits = [self._round_trip]
        allowed = self._take_permits(message_groups, limit)
        at_once = datetime.now(UTC)
        due = at_once + self._delay
        for message_group in message_groups:
            for message, phone in zip(message_group.ids, message_group.phones, strict=True):
                if allowed <= 0:
                    outcomes.append(NOT_IN_TIME)
                    continue
                allowed -= message_group.segments
                magic = phone[:5] if phone.startswith("999") else ""
                outcome = self._answer(magic, phone)
                outcomes.append(outcome)
                if outcome.response == ResponseKind.ACCEPTED or magic == SILENT_TAKEN:
                    submits.append(f"{message}\t{phone}\t{self.name}\n")
                    reference = outcome.reference or self._reference()
                    line = self._receipt_line(magic, reference, phone, at_once if magic == EARLY else due)
                    receipts += [line] * {NEVER: 0, TWICE: 2}.get(magic, 1)
                if magic in (SLOW, SILENT, SILENT_TAKEN):
                    waits.append(self.response_delay)
                if magic == EARLY:
                    waits.append(min(EARLY_SECONDS, self.response_delay))
        stored = self._store(submits, receipts)
        self._awake_until = time.monotonic() + self._delay.total_seconds() + 1
        self._submitted.set()
        time.sleep(max(waits))
        return outcomes if stored else [given_up(outcome) for outcome in outcomes]

    def _take_permits(self, message_groups: list[MessageGroup], limit: Pace | None) -> int:
        """Wait for the paces' permission to submit. Returns the number of segments that may be submitted."""
        segments = sum(message_group.segments * len(message_group.phones) for message_group in message_groups)
        paces = [pace for pace in (limit, self.pace) if pace is not None and pace.chunk]
        if not paces:
            return segments
        chunk, deadline = min(pace.chunk or segments for pace in paces), time.monotonic() + PATIENCE
        for start in range(0, segments, chunk):
            if not all(pace.take(min(chunk, segments - start), deadline) for pace in paces):
                return start
        return segments

    def _answer(self, magic: str, phone: str) -> Outcome:
        if not magic:
            return Outcome(ResponseKind.ACCEPTED, self._reference())
        if magic == THROTTLED and phone in self._throttled:
            self._throttled.discard(phone)
            return Outcome(ResponseKind.ACCEPTED, self._reference())
        if magic == THROTTLED:
            self._throttled.add(phone)
            return Outcome(ResponseKind.THROTTLED, error="throttled")
        if magic == REJECTED:
            return Outcome(ResponseKind.REJECTED, error="invalid_destination")
        if magic == FAILING:
            return Outcome(ResponseKind.FAILED, error="system_error")
        if magic in (SILENT, SILENT_TAKEN):
            return Outcome(ResponseKind.IN_DOUBT)
        return Outcome(ResponseKind.ACCEPTED, self._reference())

    def _reference(self) -> str:
        """A new carrier message id. `next` on a `count` is atomic, so no lock is needed."""
        return f"{self._prefix}{next(self._numbers):08x}"

    def _store(self, submits: list[str], receipts: list[str]) -> bool:
        """Commit submits and receipts. False if it is unknown whether they were committed."""
        if not submits:
            return True
        try:
            with transaction(self._engine) as connection:
                copy_rows(connection, "simulated_submit", "message_id, phone, carrier", "".join(submits))
                if receipts:
                    columns = "reference, phone, status, error, due_at, carrier"
                    copy_rows(connection, "simulated_receipt", columns, "".join(receipts))
        except SQLAlchemyError as error:
            log.warning("the simulated carrier does not respond: its submits could not be stored: %s", error)
            return False
        return True

    def _deliver(self) -> None:
        while not self._stop.is_set():
            self._submitted.wait(REST_SECONDS)
            self._submitted.clear()
            try:
                while not self._stop.wait(POLL_SECONDS) and (
                    self.deliver_due() or time.monotonic() < self._awake_until
                ):
                    pass
            except Exception as error:
                log.warning("receipts could not be stored and will be delivered again: %r", error)
                self._stop.wait(1)

    def deliver_due(self) -> int:
        """Deliver the receipts that are due. Returns how many. Raises if they cannot be stored; they stay due."""
        with transaction(self._engine) as connection:
            rows = connection.execute(TAKE_DUE, {"carrier": self.name}).all()
            receipts = [
                Receipt(row.reference, MessageStatus(row.status), row.error, row.due_at, str(row.phone), precision=0)
                for row in rows
            ]
            self.on_receipts(receipts)
        return len(rows)

    def _receipt_line(self, magic: str, reference: str, phone: str, due: datetime) -> str:
        if magic == UNDELIVERED:
            return f"{reference}\t{phone}\tundelivered\tabsent_subscriber\t{due}\t{self.name}\n"
        return f"{reference}\t{phone}\tdelivered\t\\N\t{due}\t{self.name}\n"


def given_up(outcome: Outcome) -> Outcome:
    """The outcome if it is unknown whether the submits were stored: accepted messages are in doubt."""
    return Outcome(ResponseKind.IN_DOUBT) if outcome.response == ResponseKind.ACCEPTED else outcome
