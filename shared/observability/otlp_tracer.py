"""Spans of this process, exported by OTLP over HTTP. Imported only while traces are on (traces.py).

Ended spans wait in a bounded queue, and a thread of OpenTelemetry exports them. If the collector is slow or away, spans
are dropped; whoever ends a span never waits.
"""

import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_SERVICE_NAME
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Attributes = Mapping[str, str | int]
Parent = Span | str
"""A span of this process, or the W3C traceparent of one elsewhere."""
Kind = Literal["internal", "client", "consumer"]

STOP_SECONDS = 3.0
"""How long a process that ends waits for its last spans to be exported."""
CONTEXT_HEADERS = (b"traceparent", b"tracestate")

_propagator = TraceContextTextMapPropagator()


class Tracer:
    """Begins the spans of one process. Thread-safe. The sampler and the exporter are set by OTEL_* variables."""

    def __init__(self, service: str) -> None:
        """`service` is the name of the service, unless OTEL_SERVICE_NAME is set. Raises ValueError for settings that
        OpenTelemetry refuses."""
        name = {} if os.environ.get(OTEL_SERVICE_NAME) else {SERVICE_NAME: service}
        self._provider = TracerProvider(resource=Resource.create(name), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("bulksms")

    def begin(
        self,
        name: str,
        parent: Parent,
        began: float,
        kind: Kind = "internal",
        attributes: Attributes | None = None,
    ) -> Span:
        """Begin a span that began at `began` (monotonic)."""
        context = _context_of({"traceparent": parent}) if isinstance(parent, str) else set_span_in_context(parent)
        start = _wall_clock_ns(began)
        return self._tracer.start_span(name, context, SpanKind[kind.upper()], attributes, start_time=start)

    def begin_joined(self, name: str, parents: Iterable[Parent], began: float, kind: Kind = "internal") -> list[Span]:
        """Begin a span for each parent, all of one act that serves all of them.

        The first is linked to all the others, and each of these to the first.
        """
        spans = [self.begin(name, parent, began, kind) for parent in parents]
        for span in spans[1:]:
            spans[0].add_link(span.get_span_context())
            span.add_link(spans[0].get_span_context())
        return spans

    def begin_request(self, name: str, headers: Sequence[tuple[bytes, bytes]]) -> Span:
        """Begin the span of a request that has arrived now. Its parent is the client's span, if the headers name one;
        the sampler decides whether it is recorded."""
        carrier: dict[str, str] = {}
        for header, value in headers:
            if header in CONTEXT_HEADERS:
                key, text = header.decode(), value.decode("latin-1")
                carrier[key] = f"{carrier[key]},{text}" if key in carrier else text
        return self._tracer.start_span(name, _context_of(carrier), SpanKind.SERVER)

    def traceparent_of(self, span: Span) -> str | None:
        """The W3C traceparent of a span, by which others follow it; None if it is not recorded."""
        context = span.get_span_context()
        if not context.trace_flags.sampled:
            return None
        return f"00-{format_trace_id(context.trace_id)}-{format_span_id(context.span_id)}-01"

    def fail(self, span: Span, error_type: str) -> None:
        """Mark a span as failed. `error_type` is one of few values, such as a status of HTTP."""
        span.set_attribute("error.type", error_type)
        span.set_status(Status(StatusCode.ERROR))

    def stop(self) -> None:
        """Export the last spans, for at most STOP_SECONDS."""
        stopping = threading.Thread(target=self._provider.shutdown, name="stop-traces", daemon=True)
        stopping.start()
        stopping.join(STOP_SECONDS)


def _context_of(carrier: Mapping[str, str]) -> Context:
    """The context in W3C headers; one without a span if they are missing or invalid."""
    return _propagator.extract(carrier, Context())


def _wall_clock_ns(moment: float) -> int:
    """Nanoseconds since 1970 of a monotonic time."""
    return time.time_ns() - int((time.monotonic() - moment) * 1e9)
