"""Sends one request over a persistent HTTP/1.1 connection. Without a response, tells whether any of it may be written.

This is known exactly, not guessed from the kind of error: just before the first octet of a request is written, its
order is marked as written. After an error before that moment the carrier has nothing; after a later one it may.

HTTP/2 is not used: httpx2 does not guard the state of such a connection against other threads.
"""

import logging
import ssl
import time
from typing import Any, NamedTuple

import httpx2

from shared.carriers.http.config import HttpConfig
from worker.carriers.http.orders import Order

MAX_RESPONSE_BYTES = 1024 * 1024
"""The largest response body that is read, in bytes."""
IDLE = 4.0
"""Seconds to keep an idle connection: less than servers do, so that none closes one as we write to it."""
for chatty in ("httpx2", "httpcore2"):  # they log URLs, which may contain a message's text
    logging.getLogger(chatty).setLevel(logging.WARNING)


class HttpResponse(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    def __repr__(self) -> str:
        """Show status and size, not the content."""
        return f"HttpResponse({self.status}, {len(self.body)} bytes)"


class Lost(Exception):
    """No usable response. Its text is a short code; `Order.may_be_written` tells whether it is in doubt."""


class _GivenUp(Exception):
    """The order was given up before the request was written."""


class Transport:
    """Connections to one carrier, for several threads. Redirects are not followed, proxy settings are ignored."""

    def __init__(self, config: HttpConfig, connections: int) -> None:
        self._config = config
        self._client = httpx2.Client(
            verify=ssl.create_default_context(cafile=config.tls_ca),
            trust_env=False,
            follow_redirects=False,
            limits=httpx2.Limits(
                max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE
            ),
        )

    def send(self, order: Order, timeout_seconds: float) -> HttpResponse:
        """Send the order and read the response within `timeout_seconds`. Raises Lost."""
        return self._request(order.method, order.url, order.headers, order.body, timeout_seconds, _mark_written(order))

    def get(self, url: str, headers: dict[str, str], timeout_seconds: float) -> HttpResponse:
        """Send a GET request, which may be repeated. Raises Lost."""
        return self._request("GET", url, headers, None, timeout_seconds, lambda event, info: None)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _request(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, timeout_seconds: float, trace: Any
    ) -> HttpResponse:
        deadline = time.monotonic() + timeout_seconds
        timeout = httpx2.Timeout(
            timeout_seconds, connect=self._config.connect_timeout, pool=self._config.connect_timeout
        )
        try:
            request = self._client.build_request(
                method, url, headers=headers, content=body, timeout=timeout, extensions={"trace": trace}
            )
            response = self._client.send(request, stream=True)
            try:
                return HttpResponse(
                    response.status_code,
                    {name.lower(): value for name, value in response.headers.items()},
                    _read(response, deadline),
                )
            finally:
                response.close()
        except (_GivenUp, httpx2.PoolTimeout):
            raise Lost("window_full") from None
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise Lost("no_response") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
            raise Lost("tls_failed" if _is_tls(error) else "not_connected") from None


def _mark_written(order: Order) -> Any:
    """A trace callback that marks the order as written, or raises _GivenUp if it was given up."""

    def trace(event: str, info: dict[str, Any]) -> None:
        if event.endswith("send_request_headers.started"):
            with order.lock:
                if order.given_up:
                    raise _GivenUp
                order.may_be_written = True

    return trace


def _read(response: httpx2.Response, deadline: float) -> bytes:
    """The body. Raises Lost if it is too long or does not end in time."""
    body = b""
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
            raise Lost("unreadable_answer")
    return body


def _is_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
