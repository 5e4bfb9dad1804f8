"""One client's connection to a simulated SMSC. PDUs that arrive together are answered in one write."""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Protocol

from bulksms.smsc.behavior import TAKEN, Behavior, Decision
from bulksms.smsc.delivery_queue import Delivery, DeliveryQueue, Receipt, clock
from bulksms.smsc.inbound import InboundPart
from bulksms.smsc.records import Records
from bulksms.smsc.settings import SmscSettings, format_id
from shared.carriers.smpp.constants import MAX_SEQUENCE, RESPONSE, Command, Status, status_name
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, MAX_PDU, Malformed, pdu, read_bind

SUBMIT_SM, SUBMIT_SM_RESP = int(Command.SUBMIT_SM), int(Command.SUBMIT_SM_RESP)
BINDS = (Command.BIND_RECEIVER, Command.BIND_TRANSMITTER, Command.BIND_TRANSCEIVER)


class Disconnect(Exception):
    """Ends the connection at once, without a response."""


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


class Connection(asyncio.Protocol):
    """A connection, bound or not yet."""

    def __init__(self, smsc: Smsc) -> None:
        self.unanswered: dict[int, Delivery] = {}
        self._smsc = smsc
        self.settings = smsc.settings
        self._counts = smsc.records.counts
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._out: list[bytes] = []
        self._receipts: list[Receipt] = []
        self._queue: DeliveryQueue | None = None
        self._sends = False
        self._binds_receiver = False
        """Whether the next write has the response to a bind that receives deliveries."""
        self._sequences = count(1)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to serve the client."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._counts.connections += 1
        self._smsc.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Requeue deliveries that were not answered."""
        self._counts.connections -= 1
        self._smsc.connections.discard(self)
        if self._queue is not None:
            if self in self._queue.receivers:
                self._queue.receivers.remove(self)
            self._queue.retry(list(self.unanswered.values()), 0)
        self.unanswered = {}

    def data_received(self, data: bytes) -> None:
        """Handle all complete PDUs."""
        data = self._rest + data if self._rest else data
        at, size = 0, len(data)
        try:
            while size - at >= HEADER_SIZE:
                length, command, status, sequence = HEADER.unpack_from(data, at)
                if not HEADER_SIZE <= length <= 2 * MAX_PDU:
                    raise Disconnect
                end = at + length
                if end > size:
                    break
                if command == SUBMIT_SM:
                    self._submit(data, at + HEADER_SIZE, end, sequence)
                else:
                    self._dispatch(command, status, sequence, data[at + HEADER_SIZE : end])
                at = end
        except Disconnect:
            self.abort()
        self._rest = data[at:]
        self._flush()

    def _submit(self, data: bytes, at: int, end: int, sequence: int) -> None:
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
            self._out.append(pdu(SUBMIT_SM_RESP, Status.ESME_RINVCMDLEN, sequence))
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
            if data[flags] & 3 and decision.receipts and self.settings.receipts:
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
            self._out.append(self._deliver_sm(due, clock()))
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
            id_octets = format_id(message_id, self.settings.answer_ids).encode()
            response = HEADER.pack(HEADER_SIZE + 1 + len(id_octets), SUBMIT_SM_RESP, 0, sequence) + id_octets + b"\0"
        if decision.slow:
            self._smsc.loop.call_later(self.settings.slow_time, self._write, response)
        else:
            self._out.append(response)

    def _misbehave(self, decision: Decision) -> None:
        """Misbehave as the settings or the decision say."""
        submits, settings = self._counts.submits, self.settings
        if decision.drops or (settings.drop_after and submits % settings.drop_after == 0):
            self._counts.drops += 1
            self._out.clear()
            raise Disconnect
        if decision.garbage or (settings.garbage_after and submits % settings.garbage_after == 0):
            self._counts.garbage += 1
            self._out.append(next(self._smsc.garbage))

    def _dispatch(self, command: int, status: int, sequence: int, body: bytes) -> None:
        if command == Command.DELIVER_SM_RESP:
            self._delivered(status, sequence)
        elif command in BINDS:
            self._bind(command, sequence, body)
        elif command == Command.ENQUIRE_LINK:
            self._out.append(pdu(Command.ENQUIRE_LINK_RESP, 0, sequence))
        elif command == Command.UNBIND:
            self._out.append(pdu(Command.UNBIND_RESP, 0, sequence))
            self._smsc.loop.call_later(max(self.settings.round_trip, 0.05) * 2, self._close)
        elif not command & RESPONSE:
            self._out.append(pdu(Command.GENERIC_NACK, Status.ESME_RINVCMDID, sequence))

    def _delivered(self, status: int, sequence: int) -> None:
        delivery = self.unanswered.pop(sequence, None)
        if delivery is None or self._queue is None:
            return
        if status:
            self._counts.receipts_refused += isinstance(delivery, Receipt)
            self._queue.retry([delivery])
        elif isinstance(delivery, InboundPart):
            self._counts.inbound_answered += 1
        else:
            self._counts.receipts_answered += 1
            self._counts.receipts_waiting -= 1

    def _bind(self, command: int, sequence: int, body: bytes) -> None:
        status = Status.ESME_ROK
        try:
            bind = read_bind(body)
        except Malformed:
            raise Disconnect from None
        if self.settings.system_id not in (None, bind.system_id):
            status = Status.ESME_RINVSYSID
        elif self.settings.password not in (None, bind.password):
            status = Status.ESME_RINVPASWD
        elif self._queue is not None:
            status = Status.ESME_RALYBND
        self._out.append(pdu(command | RESPONSE, status, sequence, b"SMSC\0" if not status else b""))
        if status:
            self._counts.refused_binds += 1
            return
        self._counts.binds += 1
        self._sends = command != Command.BIND_RECEIVER
        self._queue = self._smsc.delivery_queue(bind.system_id)
        self._binds_receiver = command != Command.BIND_TRANSMITTER

    def _flush(self) -> None:
        """Send the responses after the round trip, and queue the receipts."""
        if self._out:
            responses = b"".join(self._out)
            self._out.clear()
            receives, self._binds_receiver = self._binds_receiver, False
            if self.settings.round_trip:
                self._smsc.loop.call_later(self.settings.round_trip, self._write_responses, responses, receives)
            else:
                self._write_responses(responses, receives)
        if self._queue is not None:
            if self._receipts:
                self._queue.add(self._receipts)
                self._receipts = []
            self._queue.pump()

    def _write_responses(self, responses: bytes, receives: bool) -> None:
        """Deliveries begin after the response to the bind."""
        self._write(responses)
        if receives and self._queue is not None and self in self._smsc.connections:
            self._queue.receivers.append(self)
            self._smsc.loop.call_soon(self._queue.pump)

    def room(self) -> int:
        """How many more deliveries may be unanswered."""
        return self.settings.receipt_window - len(self.unanswered)

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Send deliveries in one write."""
        now = clock()
        self._write(b"".join([self._deliver_sm(delivery, now) for delivery in deliveries]))

    def _deliver_sm(self, delivery: Delivery, now: str) -> bytes:
        sequence = next(self._sequences) % MAX_SEQUENCE
        self.unanswered[sequence] = delivery
        self._counts.receipts_sent += isinstance(delivery, Receipt)
        return delivery.deliver_sm(sequence, now)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Drop the connection at once."""
        if self._transport is not None:
            self._transport.abort()
