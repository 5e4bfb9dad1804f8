"""What a request costs, in requests of the rate limit. It counts as one, or as what it costs where that is more.

The work is noted where it is counted, and charged when the endpoint has returned (api/endpoint.py), so that no request
waits for it: the account may get into debt, and then its next requests are refused.
"""

from api.http.request import Request, request_or_none

ROWS_PER_REQUEST = 100
"""Rows that a list, report or export returns, or examines because of a filter, for the price of one request."""
RECIPIENTS_PER_REQUEST = 10
"""Recipients of a message with placeholders that are priced for a quote, or for a send that is refused."""
BYTES_PER_REQUEST = 64 * 1024
"""Bytes of a JSON body."""


def add_rows(count: int) -> None:
    """Rows were read. The rows of an export are charged as they are written, not here."""
    _add(count / ROWS_PER_REQUEST)


def add_recipients(count: int) -> None:
    """Recipients are about to be priced one by one."""
    request = request_or_none()
    if request is not None:
        request.recipients_priced += count


def add_bytes(count: int) -> None:
    """A body was read."""
    _add(count / BYTES_PER_REQUEST)


def cost_of(request: Request) -> float:
    """All that was noted, in requests."""
    return request.cost + request.recipients_priced / RECIPIENTS_PER_REQUEST


def _add(cost: float) -> None:
    request = request_or_none()
    if request is not None:
        request.cost += cost
