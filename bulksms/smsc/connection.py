"""One client's connection to a simulated SMSC. PDUs that arrive together are answered in one write."""

import asyncio
import time
from collections.abc import Iterator
from typing import Protocol

from bulksms.smsc.behavior import TAKEN, Behavior, Decision
from bulksms.smsc.delivery_queue import Delivery, DeliveryQueue, Receipt, clock
from bulksms.smsc.inbound import InboundPart
from bulksms.smsc.records import Records
from bulksms.smsc.settings import SmscSettings, format_id
from shared.carriers.smpp.constants import RESPONSE, Command, Status, status_name
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, Malformed, pdu, read_bind
from shared.carriers.smpp.server_connection import ServerConnection

SUBMIT_SM_RESP = int(Command.SUBMIT_SM_RESP)


class Smsc(Protocol):
    """The part of the SMSC that connections use."""

    settings: SmscSettings
    records: Records
    behavior: Behavior
    garbage: Iterator[bytes]
    misbehaves: bool
    connections: "set[Connection]"
    loop: asyncio.AbstractEventLoop

    def delivery_queue(self, system_id: str) -> DeliveryQueue:
        """The deliveries of an account."""

    def next_id(self) -> str:
        """The next message id."""


class Connection(ServerConnection[Delivery]):
    """A connection, bound or not yet. A slow client is not disconnected: the SMSC never calls `check`."""

    def __init__(self, smsc: Smsc) -> None:
        super().__init__()
        self._smsc = smsc
        self._counts = smsc.records.counts
        self._receipts: list[Receipt] = []
        self._queue: DeliveryQueue | None = None
        self._sends = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        self._counts.connections += 1
        self._smsc.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Requeue deliveries that were not answered."""
        super().connection_lost(error)
        self._counts.connections -= 1
        self._smsc.connections.discard(self)
        if self._queue is not None:
            if self in self._queue.receivers:
                self._queue.receivers.remove(self)
            self._queue.retry([delivery for _, delivery in self.unanswered.values()], 0)

    def resume_writing(self) -> None:
        """Go on, also with deliveries."""
        super().resume_writing()
        if self._queue is not None:
            self._queue.pump()

    def submit(self, data: bytes, at: int, end: int, sequence: int) -> None:
        """Decide about a submit, and answer it."""
        counts, smsc = self._counts, self._smsc
        counts.submits += 1
        find = data.find
        source = find(b"\0", at, end) + 1
        destination = find(b"\0", source + 2, end) + 1
        digits_end = find(b"\0", destination + 2, end)
        validity = find(b"\0", digits_end + 4, end) + 1
        flags = find(b"\0", validity, end) + 1
        if not (source and destination and digits_end > 0 and validity and 0 < flags <= end - 5):
            counts.malformed += 1
            self.out.append(pdu(SUBMIT_SM_RESP, Status.ESME_RINVCMDLEN, sequence))
            return
        digits = data[destination + 2 : digits_end]
        if not self._sends:
            decision = Decision(Status.ESME_RINVBNDSTS, taken=False)
        elif smsc.behavior.plain and not digits.startswith(b"999"):
            decision = TAKEN
        else:
            decision = smsc.behavior.decide(digits)
        message_id = ""
        if decision.taken:
            smsc.records.take(digits + data[flags + 4 : end])
            message_id = smsc.next_id()
            if data[flags] & 3 and decision.receipts and self._smsc.settings.receipts:
                due = Receipt(
                    message_id, data[source:destination], data[destination : digits_end + 1], decision.delivered
                )
                self._due(due, decision)
        self._answer(decision, sequence, message_id)
        if smsc.records.watch is not None:
            lost = "lost" if decision.taken else "silent"
            outcome = lost if not decision.answered else status_name(decision.status) if decision.status else "accepted"
            smsc.records.watch(data[at:end], message_id, outcome)
        if smsc.misbehaves or decision.drops or decision.garbage:
            self._misbehave(decision)

    def _due(self, due: Receipt, decision: Decision) -> None:
        if decision.early:
            self._counts.receipts_waiting += 1
            self.out.append(self._deliver_sm(due, clock(), time.monotonic()))
        else:
            self._receipts += [due] * decision.receipts

    def _answer(self, decision: Decision, sequence: int, message_id: str) -> None:
        counts = self._counts
        if not decision.answered:
            counts.lost += decision.taken
            return
        if decision.status:
            counts.throttled += decision.status == Status.ESME_RTHROTTLED
            counts.refused += decision.status != Status.ESME_RTHROTTLED
            response = HEADER.pack(HEADER_SIZE, SUBMIT_SM_RESP, decision.status, sequence)
        else:
            counts.accepted += 1
            id_octets = format_id(message_id, self._smsc.settings.answer_ids).encode()
            response = HEADER.pack(HEADER_SIZE + 1 + len(id_octets), SUBMIT_SM_RESP, 0, sequence) + id_octets + b"\0"
        if decision.slow:
            self._smsc.loop.call_later(self._smsc.settings.slow_time, self.write_now, response)
        else:
            self.out.append(response)

    def _misbehave(self, decision: Decision) -> None:
        """Misbehave as the settings or the decision say."""
        submits, settings = self._counts.submits, self._smsc.settings
        if decision.drops or (settings.drop_after and submits % settings.drop_after == 0):
            self._counts.drops += 1
            self.abort()
            return
        if decision.garbage or (settings.garbage_after and submits % settings.garbage_after == 0):
            self._counts.garbage += 1
            self.out.append(next(self._smsc.garbage))

    def answered(self, delivery: Delivery, status: int) -> None:
        """Count a delivery that was answered; deliver one again that was refused."""
        if self._queue is None:
            return
        if status:
            self._counts.receipts_refused += isinstance(delivery, Receipt)
            self._queue.retry([delivery])
        elif isinstance(delivery, InboundPart):
            self._counts.inbound_answered += 1
        else:
            self._counts.receipts_answered += 1
            self._counts.receipts_waiting -= 1

    def bind(self, command: int, sequence: int, body: bytes) -> None:
        """Answer a bind."""
        status = Status.ESME_ROK
        try:
            bind = read_bind(body)
        except Malformed:
            self.abort()
            return
        if self._smsc.settings.system_id not in (None, bind.system_id):
            status = Status.ESME_RINVSYSID
        elif self._smsc.settings.password not in (None, bind.password):
            status = Status.ESME_RINVPASWD
        elif self._queue is not None:
            status = Status.ESME_RALYBND
        self.out.append(pdu(command | RESPONSE, status, sequence, b"SMSC\0" if not status else b""))
        if status:
            self._counts.refused_binds += 1
            return
        self._counts.binds += 1
        self.is_bound, self.window = True, self._smsc.settings.receipt_window
        self._sends = command != Command.BIND_RECEIVER
        self._queue = self._smsc.delivery_queue(bind.system_id)
        if command != Command.BIND_TRANSMITTER:
            self._queue.receivers.append(self)  # deliveries begin after the response, which `flush` writes

    def flush(self) -> None:
        """Write what waits, and queue the receipts."""
        super().flush()
        if self._queue is not None:
            if self._receipts:
                self._queue.add(self._receipts)
                self._receipts = []
            self._queue.pump()

    def write_now(self, octets: bytes) -> None:
        """Write octets after the round trip."""
        if self._smsc.settings.round_trip:
            self._smsc.loop.call_later(self._smsc.settings.round_trip, super().write_now, octets)
        else:
            super().write_now(octets)

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Send deliveries in one write."""
        now, sent_at = clock(), time.monotonic()
        self.write_now(b"".join([self._deliver_sm(delivery, now, sent_at) for delivery in deliveries]))

    def _deliver_sm(self, delivery: Delivery, now: str, sent_at: float) -> bytes:
        sequence = self.next_sequence()
        self.unanswered[sequence] = (sent_at, delivery)
        self._counts.receipts_sent += isinstance(delivery, Receipt)
        return delivery.deliver_sm(sequence, now)

    def hang_up(self) -> None:
        """Close the connection, after what is written before."""
        self._smsc.loop.call_later(2 * self._smsc.settings.round_trip, super().hang_up)
