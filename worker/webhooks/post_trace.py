"""The spans of posts to webhooks, while traces are on."""

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from worker.webhooks.policy import PostJob

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from shared.observability.otlp_tracer import Tracer


def begin_post(tracer: "Tracer", job: PostJob, traceparent: str, headers: dict[str, str]) -> "Span":
    """Begin the span of a post for a traced send, and name it in the headers, so that the receiver can follow it."""
    attributes: dict[str, str | int] = {
        "http.request.method": "POST" if job.report_url is None else "GET",
        "server.address": _host_of(job.url),
        "bulksms.event.id": str(job.event_id),
        "bulksms.event.type": job.type,
        "http.request.resend_count": job.attempts,
    }
    span = tracer.begin("webhook", traceparent, time.monotonic(), "client", attributes)
    own = tracer.traceparent_of(span)
    if own is not None:
        headers["traceparent"] = own
    return span


def end_post(tracer: "Tracer", span: "Span", job: PostJob) -> None:
    """Export the span of a post."""
    if job.reply is not None and job.reply.http_status is not None:
        span.set_attribute("http.response.status_code", job.reply.http_status)
    if job.reply is not None and job.reply.error is not None:
        status = job.reply.http_status
        tracer.fail(span, "no_response" if status is None else str(status))
    span.end()


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
