"""Stores a carrier's deliveries in batches, in a separate thread, and acknowledges them only once they are stored.

So a slow or unavailable database never keeps the reader from the responses to our submits. A batch that cannot be
stored within STORE_TIME is answered with ESME_RX_T_APPN: the carrier keeps its deliveries and redelivers them.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import Malformed, has_broken_rest, read_message
from shared.carriers.unreadable import Unreadable
from shared.db.errors import is_value_refused
from shared.inbound import Inbound
from worker.carriers.base import CarrierInbox, Receipt
from worker.carriers.late_responses import LateResponses
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.counters import Counters
from worker.carriers.smpp.delivery import Delivery, HeldReceipt, answer_all
from worker.carriers.smpp.multipart import MultipartMessage, MultipartMessages
from worker.carriers.smpp.other_binds import LOOK_SECONDS, OtherBinds
from worker.carriers.smpp.receipt import (
    inbound,
    is_acknowledgement,
    is_receipt,
    looks_like_receipt,
    read_receipt,
    usual_receipt,
)
from worker.carriers.smpp.repetitions import Repetitions
from worker.carriers.smpp.session import Session
from worker.carriers.smpp.status import CarrierResponse
from worker.carriers.smpp.submission import Submission

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_STORED_TOGETHER = 2_000
"""Most deliveries stored together."""
MAX_WAITING = 20_000
"""Most deliveries that wait here; more are refused, and stay with the carrier."""
STORE_TIME = 10.0
HOLD_SECONDS = 2.0
"""Seconds to hold a receipt that may be for a part of a multipart message being submitted."""
POLL_SECONDS = 0.02
GATHER_SECONDS, GAP_SECONDS = 0.01, 0.002
"""Seconds to collect deliveries, so that many share a commit; less if none comes for GAP_SECONDS."""


class Deliveries:
    """Handles deliveries from readers, in its own thread, from `start` to `stop`. Passes on late responses."""

    def __init__(self, config: SmppConfig, counters: Counters, multiparts: MultipartMessages) -> None:
        self.late_responses = LateResponses(config.name)
        """Stopped by the driver, once no more responses can come."""
        self._config = config
        self._counters = counters
        self._multiparts = multiparts
        self._other_binds = OtherBinds(multiparts)
        self._waiting: deque[Delivery] = deque()
        self._held: list[HeldReceipt] = []
        self._also_kept: list[Unreadable] = []
        """Messages that look like receipts but are not marked as such, and broken ones; stored for the operator."""
        self._repetitions = Repetitions()
        self._refused: list[Delivery] = []
        """What the database refused of the batch that is being stored."""
        self._arrived = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{config.name}-deliveries", daemon=True)

    def start(self, inbox: CarrierInbox) -> None:
        """Start the threads."""
        self._inbox = inbox
        self.late_responses.start(inbox)
        self._thread.start()

    def stop(self) -> None:
        """Store and acknowledge pending deliveries, then stop."""
        self._stop.set()
        self._arrived.set()
        if self._thread.is_alive():
            self._thread.join(STORE_TIME + 1)

    def put(self, session: Session, command: int, sequence: int, body: bytes) -> None:
        """Take a delivery from the reader, or refuse it when too many wait. Never blocks."""
        delivery = Delivery(session, command, sequence, body)
        if len(self._waiting) + len(self._held) >= MAX_WAITING:
            session.say(delivery.answer(Status.ESME_RX_T_APPN))
            return
        self._waiting.append(delivery)
        if not self._arrived.is_set():
            self._arrived.set()

    def late(self, submission: Submission, index: int, response: CarrierResponse) -> None:
        """Take a late response from the reader."""
        self.late_responses.add(partial(submission.late, index, response))

    def _run(self) -> None:
        while not self._stop.is_set() or self._waiting or self._held:
            self._arrived.wait(POLL_SECONDS if self._held else LOOK_SECONDS)
            self._gather()
            try:
                self._other_binds.look(self._inbox)
                while self._waiting or self._held:
                    if not self._take(self._next_batch()) and not self._waiting:
                        break
                    self._other_binds.look(self._inbox)
            except Exception as error:
                log.warning("%s: handling deliveries failed: %s", self._config.name, type(error).__name__)

    def _gather(self) -> None:
        """Collect deliveries: a carrier sends up to its window at a time, and then waits for responses."""
        seen, until = 0, time.monotonic() + GATHER_SECONDS
        while len(self._waiting) > seen and time.monotonic() < until:
            seen = len(self._waiting)
            self._stop.wait(GAP_SECONDS)
        self._arrived.clear()

    def _next_batch(self) -> list[Delivery]:
        return [self._waiting.popleft() for _ in range(min(MAX_STORED_TOGETHER, len(self._waiting)))]

    def _take(self, deliveries: list[Delivery]) -> bool:
        """Store one batch, then acknowledge it. Returns whether there was anything to acknowledge."""
        receipts: list[tuple[Delivery, Receipt]] = self._released()
        messages: list[tuple[Delivery, Inbound]] = []
        unreadable: list[tuple[Delivery, Unreadable]] = []
        repeated: list[tuple[Delivery, int]] = []
        mark, now = self._multiparts.now(), datetime.now(UTC)
        settled = self._multiparts.settled(mark)
        for delivery in deliveries:
            parsed = self._read(delivery, now)
            if isinstance(parsed, Unreadable):
                unreadable.append((delivery, parsed))
            elif isinstance(parsed, Inbound):
                if self._repetitions.is_repeated(delivery.session, delivery.body):
                    repeated.append((delivery, Status.ESME_ROK))
                else:
                    messages.append((delivery, parsed))
            elif not settled and self._multiparts.may_be_open(parsed):
                self._held.append(HeldReceipt(time.monotonic() + HOLD_SECONDS, mark, delivery, parsed))
            else:
                receipts.append((delivery, parsed))
        answers = self._store_receipts(receipts) + self._store_inbound(messages)
        refused, self._refused = self._refused, []
        if refused:
            again = set(map(id, refused))
            answers = [answer for answer in answers if id(answer[0]) not in again]
            unreadable += [(delivery, Unreadable(delivery.body, "refused")) for delivery in refused]
        answers += repeated + self._store_unreadable(unreadable)
        answer_all(answers)
        return bool(answers)

    def _read(self, delivery: Delivery, now: datetime) -> Receipt | Inbound | Unreadable:
        if delivery.command == Command.DELIVER_SM:
            usual = usual_receipt(self._config, delivery.body, now)
            if usual is not None:
                return usual
        try:
            message = read_message(delivery.command, delivery.body)
            if has_broken_rest(delivery.body, message):
                self._also_kept.append(Unreadable(delivery.body, "broken_parameters"))
            unmarked = looks_like_receipt(message)
            if is_receipt(message) or is_acknowledgement(message) or (unmarked and self._config.unmarked_receipts):
                receipt = read_receipt(self._config, message, now)
                return receipt or Unreadable(delivery.body, "no_id_or_state")
            if unmarked:
                self._also_kept.append(Unreadable(delivery.body, "not_marked"))
            return inbound(self._config, message)
        except Malformed:
            return Unreadable(delivery.body, "malformed")

    def _released(self) -> list[tuple[Delivery, Receipt]]:
        """The held receipts that need not wait any longer, which are no longer held."""
        now = time.monotonic()
        held_still, released = [], []
        for held in self._held:
            long = self._multiparts.find(held.receipt.reference, held.receipt.phone)
            is_due = held.until < now if long is None else not long.is_open
            if is_due or self._stop.is_set() or self._multiparts.settled(held.mark):
                released.append((held.delivery, held.receipt))
            else:
                held_still.append(held)
        self._held = held_still
        return released

    def _store_receipts(self, receipts: list[tuple[Delivery, Receipt]]) -> list[tuple[Delivery, int]]:
        to_store: list[tuple[Receipt, Delivery]] = []
        before: list[tuple[MultipartMessage, set[str], set[str]]] = []
        for delivery, receipt in receipts:
            long = self._multiparts.find(receipt.reference, receipt.phone)
            if long is not None:
                before.append((long, long.reported.copy(), long.delivered.copy()))
            message_receipt = receipt if long is None else long.on_part_receipt(receipt)
            if message_receipt is not None:
                to_store.append((message_receipt, delivery))
        status = self._store(self._inbox.store_receipts, to_store)
        if status != Status.ESME_ROK:
            for long, reported, delivered in reversed(before):  # as before: the carrier redelivers these receipts
                long.reported, long.delivered = reported, delivered
        return [(delivery, status) for delivery, _ in receipts]

    def _store_inbound(self, messages: list[tuple[Delivery, Inbound]]) -> list[tuple[Delivery, int]]:
        status = self._store(self._inbox.store_inbound, [(message, delivery) for delivery, message in messages])
        if status == Status.ESME_ROK:
            for delivery, _ in messages:
                self._repetitions.add(delivery.session, delivery.body)
        return [(delivery, status) for delivery, _ in messages]

    def _store_unreadable(self, deliveries: list[tuple[Delivery, Unreadable]]) -> list[tuple[Delivery, int]]:
        """Store them as received. They are acknowledged, as redelivery would not make them readable."""
        also = [(unreadable, None) for unreadable in self._also_kept]
        status = self._store(self._inbox.store_unreadable, [(unreadable, None) for _, unreadable in deliveries] + also)
        if status != Status.ESME_ROK:
            return [(delivery, status) for delivery, _ in deliveries]
        self._also_kept.clear()
        self._counters.unreadable += len(deliveries)
        return [
            (delivery, Status.ESME_RINVCMDLEN if unreadable.reason == "malformed" else Status.ESME_ROK)
            for delivery, unreadable in deliveries
        ]

    def _store(self, store: Callable[[list[T]], None], items: Sequence[tuple[T, Delivery | None]]) -> int:
        """Store the items, retrying for STORE_TIME. Returns the status to respond with.

        If the database refuses a value, they are stored one by one. What it refuses then is stored as unreadable, and
        acknowledged only then: it would refuse it again.
        """
        deadline = time.monotonic() + STORE_TIME
        at, together = 0, max(1, len(items))
        while at < len(items):
            try:
                store([item for item, _ in items[at : at + together]])
                at += together
            except Exception as error:
                log.warning(
                    "%s: %d deliveries could not be stored: %s", self._config.name, together, type(error).__name__
                )
                if is_value_refused(error):
                    if together == 1:
                        delivery = items[at][1]
                        if delivery is not None:
                            self._refused.append(delivery)
                        at += 1
                    together = 1
                    continue
                if time.monotonic() > deadline or self._stop.wait(0.5):
                    return Status.ESME_RX_T_APPN
        return Status.ESME_ROK
