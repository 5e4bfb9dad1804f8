"""The spans of a cycle, while traces are on: of the cycle itself, of its windows, and of its end."""

import time
from collections import Counter
from typing import TYPE_CHECKING
from uuid import UUID

from worker.carriers.base import Outcome
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.windows import Window

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from shared.observability.otlp_tracer import Tracer

MESSAGES = "messaging.batch.message_count"


class CycleTrace:
    """The spans of one cycle: one for each batch whose request is traced, and others below it."""

    def __init__(self, tracer: "Tracer", carrier: str, batches: list[ClaimedBatch], claimed_at: float) -> None:
        """The cycle has claimed `batches` at `claimed_at` (monotonic)."""
        self._tracer = tracer
        self._carrier = carrier
        self._batches = {batch.batch_id: batch for batch in batches if batch.traceparent is not None}
        parents = [batch.traceparent for batch in self._batches.values() if batch.traceparent is not None]
        cycles = tracer.begin_joined("cycle", parents, claimed_at, "consumer")
        self._cycles: dict[UUID, Span] = dict(zip(self._batches, cycles, strict=True))
        self._settling_at = claimed_at

    def submitted(self, window: Window, outcomes: list[Outcome], submitted_at: float) -> None:
        """Export the spans of a window whose responses are in."""
        position, parts = 0, []
        for batch, positions in window:
            if batch.batch_id in self._cycles:
                parts.append((self._cycles[batch.batch_id], outcomes[position : position + len(positions)]))
            position += len(positions)
        spans = self._tracer.begin_joined("submit", [cycle for cycle, _ in parts], submitted_at, "client")
        for span, (_, own) in zip(spans, parts, strict=True):
            responses = Counter(f"bulksms.responses.{outcome.response}" for outcome in own)
            span.set_attributes(
                {"bulksms.carrier": self._carrier, MESSAGES: len(own), "bulksms.window.messages": position, **responses}
            )
            span.end()

    def settling(self) -> None:
        """The cycle begins to settle."""
        self._settling_at = time.monotonic()

    def settled(self) -> None:
        """Export the spans of the cycle and of its settling, which are over."""
        for span in self._tracer.begin_joined("settle", self._cycles.values(), self._settling_at):
            span.end()
        for batch_id, span in self._cycles.items():
            batch = self._batches[batch_id]
            statuses = Counter(f"bulksms.messages.{each.status}" for each in batch.results if each is not None)
            span.set_attributes(
                {
                    "bulksms.account.id": batch.account_id,
                    "bulksms.send.id": str(batch.send_id),
                    "bulksms.batch.id": str(batch.batch_id),
                    "bulksms.carrier": self._carrier,
                    MESSAGES: len(batch.indexes),
                    "bulksms.batch.left": batch.left - batch.known,
                    **statuses,
                }
            )
            span.end()


def trace_cycle(tracer: "Tracer", carrier: str, batches: list[ClaimedBatch], claimed_at: float) -> CycleTrace | None:
    """The spans of a cycle; None if none of its batches is traced."""
    if all(batch.traceparent is None for batch in batches):
        return None
    return CycleTrace(tracer, carrier, batches, claimed_at)
