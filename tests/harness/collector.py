"""An OpenTelemetry collector on this machine: an OTLP/HTTP receiver that keeps the spans sent to it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from tests.harness.http_carrier import Reply, Request, http_peer


class Span(NamedTuple):
    """A span that came. Ids are in hex; `links` are the ids of spans."""

    service: str
    name: str
    trace_id: str
    id: str
    parent_id: str
    kind: str
    attributes: dict[str, str | int]
    links: list[str]
    began: int
    ended: int
    """Nanoseconds since 1970."""
    failed: bool


class Collector:
    """Listens on a port of 127.0.0.1. With `hangs` it takes requests and never responds to them."""

    def __init__(self, hangs: bool = False) -> None:
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        """What came, as it was on the wire."""
        self._released, self._running = threading.Event(), ExitStack()
        if not hangs:
            self._released.set()
        self.url = self._running.enter_context(http_peer(self._take)).url("")

    def _take(self, request: Request) -> Reply:
        assert request.path == "/v1/traces" and request.headers["content-type"] == "application/x-protobuf"
        self.bodies.append(request.body)
        self.spans += _spans_in(request.body)
        self._released.wait()
        return Reply(body=b"")

    def stop(self) -> None:
        """Stop listening."""
        self._released.set()
        self._running.close()

    def trace(self, trace_id: str) -> dict[str, Span]:
        """The spans of a trace, by name; of several with one name the last that came."""
        return {span.name: span for span in list(self.spans) if span.trace_id == trace_id}


def _spans_in(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = next(each.value.string_value for each in resource.resource.attributes if each.key == "service.name")
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    service,
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    WireSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
                    {each.key: each.value.string_value or each.value.int_value for each in span.attributes},
                    [link.span_id.hex() for link in span.links],
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    span.status.code == Status.STATUS_CODE_ERROR,
                )


@contextmanager
def collector(hangs: bool = False) -> Iterator[Collector]:
    """A collector, stopped at the end."""
    made = Collector(hangs)
    try:
        yield made
    finally:
        made.stop()
