"""The application while traces are on: with a span for each request that sends messages or asks for a quote."""

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from api.endpoint import PREFIX
from api.http.request import SUMMARY, TRACEPARENT, Receive, Scope, Send, Summary
from api.server.application import Application
from shared.observability.logs import scrub

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from shared.observability.otlp_tracer import Tracer

ROUTES = frozenset(f"{PREFIX}/sms/{name}" for name in ("send", "send-bulk", "send-group", "quote"))
FIRST_SERVER_ERROR = 500


class TracedApplication(Application):
    """Application, with spans of `tracer`. What it leads to finds the span's context in the request's scope."""

    def __init__(self, tracer: "Tracer", *parts: Any) -> None:
        """`parts` are the arguments of Application."""
        super().__init__(*parts)
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request. Its span lasts from its headers to the end of its response."""
        route = "/" + scope["path"].strip("/")  # extra slashes lead to the same view
        if scope["method"] != "POST" or route not in ROUTES:
            await super().__call__(scope, receive, send)
            return
        span = self._tracer.begin_request(f"POST {route}", scope["headers"])
        scope[TRACEPARENT] = self._tracer.traceparent_of(span)
        status: int | None = None

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await super().__call__(scope, receive, noted)
        finally:
            if scope[TRACEPARENT] is not None:
                self._describe(span, route, status, scope.get(SUMMARY))
            span.end()

    def _describe(self, span: "Span", route: str, status: int | None, summary: Summary | None) -> None:
        """Set the attributes of a request's span. `status` is None if the client left before the response."""
        span.set_attributes({"http.request.method": "POST", "http.route": route, "url.path": route})
        if status is not None:
            span.set_attribute("http.response.status_code", status)
            if status >= FIRST_SERVER_ERROR:
                self._tracer.fail(span, str(status))
        if summary is not None:
            span.set_attribute("bulksms.request.id", scrub(summary.request_id))
            if summary.account_id is not None:
                span.set_attribute("bulksms.account.id", summary.account_id)
            if summary.send_id is not None:
                span.set_attribute("bulksms.send.id", summary.send_id)
