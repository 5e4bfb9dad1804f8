"""One request over connections that are kept: what came back, or whether anything may have left.

What is written is known exactly, not guessed from the kind of an error: the moment before a request's first octet is
given to its connection, the order is marked as left. An error before that moment took nothing; one after it may have.
"""

import logging
import ssl
import time
from typing import Any, NamedTuple

import httpx2

from shared.carriers.http.config import HttpConfig
from worker.carriers.http.orders import Order

LARGEST = 1024 * 1024
"""Bytes of an answer that is read."""
IDLE = 4.0
"""Seconds for which an unused connection is kept: less than servers do, so that none closes one as we write to it."""
for chatty in ("httpx2", "httpcore2"):  # they log addresses, which may hold what a message says
    logging.getLogger(chatty).setLevel(logging.WARNING)


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    def __repr__(self) -> str:
        """Its status and size, and not what it says."""
        return f"Reply({self.status}, {len(self.body)} bytes)"


class Lost(Exception):
    """No answer. Its text is a short code; whether the request may have left, the order knows."""


class _GivenUp(Exception):
    """Nobody waits any more, so the request shall not leave."""


class Transport:
    """Connections to one carrier, for several threads. Redirections are not followed, proxies not looked for."""

    def __init__(self, config: HttpConfig, connections: int) -> None:
        self._config = config
        self._client = httpx2.Client(
            http2=config.http2,
            verify=ssl.create_default_context(cafile=config.tls_ca),
            trust_env=False,
            follow_redirects=False,
            limits=httpx2.Limits(
                max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE
            ),
        )

    def ask(self, order: Order, patience: float) -> Reply:
        """Ask, and read the answer within `patience` seconds. Raises Lost."""
        return self._ask(order.method, order.url, order.headers, order.body, patience, _leaves(order))

    def get(self, url: str, headers: dict[str, str], patience: float) -> Reply:
        """Ask for what can be asked for again. Raises Lost."""
        return self._ask("GET", url, headers, None, patience, lambda event, info: None)

    def close(self) -> None:
        """End all connections."""
        self._client.close()

    def _ask(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, patience: float, trace: Any
    ) -> Reply:
        deadline = time.monotonic() + patience
        timeout = httpx2.Timeout(patience, connect=self._config.connect_time, pool=self._config.connect_time)
        try:
            request = self._client.build_request(
                method, url, headers=headers, content=body, timeout=timeout, extensions={"trace": trace}
            )
            response = self._client.send(request, stream=True)
            try:
                return Reply(
                    response.status_code,
                    {name.lower(): value for name, value in response.headers.items()},
                    _read(response, deadline),
                )
            finally:
                response.close()
        except _GivenUp:
            raise Lost("window_full") from None
        except (httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise Lost("no_answer") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
            raise Lost("tls_failed" if _is_tls(error) else "not_connected") from None


def _leaves(order: Order) -> Any:
    """A trace that marks the order as left, or keeps it from leaving when nobody waits for it any more."""

    def trace(event: str, info: dict[str, Any]) -> None:
        if event.endswith("send_request_headers.started"):
            with order.lock:
                if order.given_up:
                    raise _GivenUp
                order.left = True

    return trace


def _read(response: httpx2.Response, deadline: float) -> bytes:
    """The body. Raises Lost where it is too long, or does not end in time."""
    body = b""
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > LARGEST or time.monotonic() > deadline:
            raise Lost("unreadable_answer")
    return body


def _is_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
