"""The spans of a group commit, while traces are on."""

from typing import TYPE_CHECKING

from api.commit.draft import Draft

if TYPE_CHECKING:
    from shared.observability.otlp_tracer import Tracer


def trace_commit(tracer: "Tracer", drafts: list[Draft], began: float) -> None:
    """Export a span of the commit for each of its sends that is traced. `began` is monotonic; the commit is over."""
    traceparents = [draft.traceparent for draft in drafts if draft.traceparent is not None]
    for span in tracer.begin_joined("commit", traceparents, began):
        span.set_attribute("bulksms.commit.sends", len(drafts))
        span.end()
