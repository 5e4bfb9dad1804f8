"""Requests and responses as the server sees them: counted, logged, and answered even if the application fails."""

import logging
import time
from collections.abc import Awaitable, MutableMapping
from functools import cache
from typing import Any

from prometheus_client import Counter, Histogram

from api.http.request import COMPLETE, SUMMARY, UPGRADE, Receive, Scope, Send, announced_length, problem_of_head
from api.server.application import Application
from api.server.request_log import RequestLog
from api.server.request_spans import begin_span, end_span
from api.server.responses import early_problem, send_whole
from shared.observability.metrics import HTTP_REQUEST_SECONDS, HTTP_REQUESTS
from shared.observability.traces import stop_traces

CLIENT_LEFT = 499
"""The status, in logs, of a request whose client left before the response began, as nginx has it."""

log = logging.getLogger(__name__)


class Observed:
    """An Application whose requests are counted for `GET /metrics`, logged and traced, with the lifespan of ASGI."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._log = RequestLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        exchange = Exchange(scope, receive, send)
        span = None
        try:
            span = begin_span(scope)
            if wrong := _wrong(scope):
                await self._application.refuse(wrong, scope, exchange.receive, exchange.send)
            else:
                await self._application(scope, exchange.receive, exchange.send)
        except Exception:
            log.exception("a request failed outside of the application")
            if not exchange.headers:
                failed = early_problem("internal_error", "Something went wrong on our side.", scope["path"])
                await send_whole(exchange.send, exchange.receive, failed)
        finally:
            self._log.add(scope, exchange.status, exchange.headers, exchange.seconds(), exchange.sent_bytes)
            if span is not None:
                end_span(span, scope, exchange.status if exchange.headers else None)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Start what surrounds the requests, and stop it when all have ended."""
        await receive()
        self._log.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._log.stop()
        stop_traces()
        await send({"type": "lifespan.shutdown.complete"})


def _wrong(scope: Scope) -> str:
    headers = scope["headers"]
    if scope["method"] == "CONNECT" and announced_length(headers) != 0:
        return UPGRADE  # the parser skips the body
    return problem_of_head(scope["raw_path"] + scope["query_string"], headers, scope["http_version"])


class Exchange:
    """One request and its response."""

    __slots__ = ("_has_left", "_receive", "_scope", "_send", "headers", "sent_bytes", "status")

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._has_left = False
        self.status, self.headers = CLIENT_LEFT, list[tuple[bytes, bytes]]()
        """Of the response. Each response has headers; there are none before it begins."""
        self.sent_bytes = 0
        """Of the response's body."""

    async def receive(self) -> MutableMapping[str, Any]:
        """The next part of the request's body, or that the client has left."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._has_left = True
        return message

    def send(self, message: MutableMapping[str, Any]) -> Awaitable[None]:
        """Send the head or a part of the body of the response, unless the client is known to have left."""
        if self._has_left:
            return _nothing()
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], message["headers"]
            count_response(self._scope, self.status, self.seconds())
        elif self._scope["method"] != "HEAD":
            self.sent_bytes += len(message.get("body", b""))
        return self._send(message)

    def seconds(self) -> float:
        """Seconds since the request was complete; 0 if it is not."""
        return time.monotonic() - self._scope[COMPLETE] if COMPLETE in self._scope else 0.0


async def _nothing() -> None:
    pass


def count_response(scope: Scope, status: int, seconds: float) -> None:
    """Count a response for `GET /metrics`. The scope has the request's Summary, if it reached the API."""
    summary = scope.get(SUMMARY)
    requests, duration = _metrics_of(summary.route if summary is not None else "", status)
    requests.inc()
    duration.observe(seconds)


@cache
def _metrics_of(endpoint: str, status: int) -> tuple[Counter, Histogram]:
    return HTTP_REQUESTS.labels(endpoint, str(status)), HTTP_REQUEST_SECONDS.labels(endpoint)
