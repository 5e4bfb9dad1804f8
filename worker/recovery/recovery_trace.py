"""The spans of recovered batches, while traces are on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row

from shared.lifecycle import MessageStatus
from worker.sending.settle_rest import Settlement

if TYPE_CHECKING:
    from shared.observability.otlp_tracer import Tracer


def trace_recovery(tracer: "Tracer", rows: Sequence[Row[Any]], settlements: Sequence[Settlement], began: float) -> None:
    """Export a span for each recovered batch whose request is traced. `began` is monotonic."""
    traced = [each for each in zip(rows, settlements, strict=True) if each[0].traceparent is not None]
    spans = tracer.begin_joined("recover", [row.traceparent for row, _ in traced], began)
    for span, (row, settlement) in zip(spans, traced, strict=True):
        span.set_attributes(
            {
                "bulksms.account.id": row.account_id,
                "bulksms.send.id": str(row.send_id),
                "bulksms.batch.id": str(row.id),
                "bulksms.batch.left": settlement.left,
                "bulksms.messages.in_doubt": settlement.tally[MessageStatus.IN_DOUBT],
            }
        )
        span.end()
