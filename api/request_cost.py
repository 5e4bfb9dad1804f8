"""The cost of a request toward the rate limit. A request counts as one, or as its work if that is more.

Work is recorded as it is done and charged when the endpoint has returned (api/endpoint.py), so it delays no request. If
the account gets into debt, its next requests are refused.
"""

from contextvars import ContextVar
from dataclasses import dataclass

ROWS_PER_REQUEST = 100
"""Rows that a list, report or export returns, or examines for a filter."""
RECIPIENTS_PER_REQUEST = 10
"""Recipients of a message with placeholders that are priced for a quote or for a refused send."""
BYTES_PER_REQUEST = 64 * 1024
"""Bytes of a JSON body, of a request or a response, and of a file of contacts."""


@dataclass(slots=True)
class Work:
    """The work recorded for a request."""

    requests: float = 0.0
    """Rows and bytes, in requests."""
    recipients_priced: int = 0
    """Recipients of a message with placeholders that were priced."""

    def cost(self) -> float:
        """The work recorded so far, in requests."""
        return self.requests + self.recipients_priced / RECIPIENTS_PER_REQUEST


current_work: ContextVar[Work | None] = ContextVar("work", default=None)
"""Where work is recorded; nothing is recorded outside of a request."""


def add_rows(count: int) -> None:
    """Record rows that were read. The rows of an export are charged as they are written, not here."""
    _add(count / ROWS_PER_REQUEST)


def add_recipients(count: int) -> None:
    """Record recipients that are about to be priced one by one."""
    work = current_work.get()
    if work is not None:
        work.recipients_priced += count


def add_bytes(count: int) -> None:
    """Record the size of a body that was read, or of a response."""
    _add(count / BYTES_PER_REQUEST)


def _add(requests: float) -> None:
    work = current_work.get()
    if work is not None:
        work.requests += requests
