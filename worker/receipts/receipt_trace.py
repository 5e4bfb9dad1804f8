"""The spans of receipts, while traces are on."""

from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from shared.db.expressions import in_parameter
from shared.db.tables.sends import send
from shared.sends.counters import Changes

if TYPE_CHECKING:
    from shared.observability.otlp_tracer import Tracer

TRACED = select(*send.c["id", "account_id", "traceparent"]).where(
    in_parameter(send.c.id, "ids"), send.c.traceparent.is_not(None)
)


def trace_receipts(tracer: "Tracer", connection: Connection, carrier: str, changes: Changes, began: float) -> None:
    """Export a span for each traced send whose messages change their status by receipts.

    `changes` are the counts of messages by send and status; `began` is monotonic.
    """
    if not changes:
        return
    rows = connection.execute(TRACED, {"ids": list(changes)}).all()
    spans = tracer.begin_joined("receipts", [row.traceparent for row in rows], began, "consumer")
    for span, row in zip(spans, rows, strict=True):
        moved = {str(status): count for status, count in changes[row.id].items() if count > 0}
        span.set_attributes(
            {
                "bulksms.account.id": row.account_id,
                "bulksms.send.id": str(row.id),
                "bulksms.carrier": carrier,
                "messaging.batch.message_count": sum(moved.values()),
                **{f"bulksms.messages.{status}": count for status, count in moved.items()},
            }
        )
        span.end()
