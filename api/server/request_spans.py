"""Traces of requests that send messages or ask for a quote: a span from its headers to the end of its response."""

from typing import TYPE_CHECKING

from api.endpoint import PREFIX
from api.http.request import SUMMARY, TRACEPARENT, Scope
from shared.observability import traces
from shared.observability.logs import scrub

if TYPE_CHECKING:
    from opentelemetry.trace import Span

ROUTES = frozenset(f"{PREFIX}/sms/{name}" for name in ("send", "send-bulk", "send-group", "quote"))
FIRST_SERVER_ERROR = 500


def begin_span(scope: Scope) -> "Span | None":
    """Begin the span of a request, whose scope gets its context; None for other requests, and while traces are off."""
    tracer = traces.tracer
    if tracer is None or scope["method"] != "POST" or (route := _route_of(scope)) not in ROUTES:
        return None
    span = tracer.begin_request(f"POST {route}", scope["headers"])
    scope[TRACEPARENT] = tracer.traceparent_of(span)
    return span


def end_span(span: "Span", scope: Scope, status: int | None) -> None:
    """End the span of a request. `status` is None if the client left before the response."""
    if traces.tracer is not None and scope[TRACEPARENT] is not None:
        route, summary = _route_of(scope), scope.get(SUMMARY)
        span.set_attributes({"http.request.method": "POST", "http.route": route, "url.path": route})
        if status is not None:
            span.set_attribute("http.response.status_code", status)
            if status >= FIRST_SERVER_ERROR:
                traces.tracer.fail(span, str(status))
        if summary is not None:
            span.set_attribute("bulksms.request.id", scrub(summary.request_id))
            if summary.account_id is not None:
                span.set_attribute("bulksms.account.id", summary.account_id)
            if summary.send_id is not None:
                span.set_attribute("bulksms.send.id", summary.send_id)
    span.end()


def _route_of(scope: Scope) -> str:
    return "/" + str(scope["path"]).strip("/")  # extra slashes lead to the same view
