"""The cost of a request toward the rate limit. A request counts as one, or as its work if that is more.

Work is recorded as it is done and charged when the endpoint has returned (api/endpoint.py), so it delays no request. If
the account gets into debt, its next requests are refused.
"""

from api.http.request import Request, request_or_none

ROWS_PER_REQUEST = 100
"""Rows that a list, report or export returns, or examines for a filter."""
RECIPIENTS_PER_REQUEST = 10
"""Recipients of a message with placeholders that are priced for a quote or for a refused send."""
BYTES_PER_REQUEST = 64 * 1024
"""Bytes of a JSON body."""


def add_rows(count: int) -> None:
    """Record rows that were read. The rows of an export are charged as they are written, not here."""
    _add(count / ROWS_PER_REQUEST)


def add_recipients(count: int) -> None:
    """Record recipients that are about to be priced one by one."""
    request = request_or_none()
    if request is not None:
        request.recipients_priced += count


def add_bytes(count: int) -> None:
    """Record the size of a body that was read."""
    _add(count / BYTES_PER_REQUEST)


def cost_of(request: Request) -> float:
    """The work recorded so far, in requests."""
    return request.cost + request.recipients_priced / RECIPIENTS_PER_REQUEST


def _add(cost: float) -> None:
    request = request_or_none()
    if request is not None:
        request.cost += cost
