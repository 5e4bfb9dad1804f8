"""Spans as they come to a collector."""

import time
from collections.abc import Iterator

import pytest

from shared.observability.otlp_tracer import Tracer
from tests.harness.collector import Collector, collector

pytestmark = pytest.mark.usefixtures("patient_exporter")

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


@pytest.fixture
def spans() -> Iterator[Collector]:
    with collector() as made:
        yield made


@pytest.fixture
def tracer(spans: Collector, monkeypatch: pytest.MonkeyPatch) -> Tracer:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", spans.url)
    return Tracer("bulksms-test")


def test_it_works(tracer: Tracer, spans: Collector) -> None:
    began = time.monotonic() - 5
    span = tracer.begin("act", PARENT, began, "client", {"bulksms.carrier": "main"})
    tracer.fail(span, "500")
    span.end()
    tracer.stop()
    [came] = spans.spans
    assert (came.service, came.name, came.trace_id, came.parent_id) == ("bulksms-test", "act", TRACE, SPAN)
    assert (came.kind, came.failed) == ("client", True)
    assert came.attributes == {"bulksms.carrier": "main", "error.type": "500"}
    assert came.ended - came.began >= 5_000_000_000


def test_the_name_of_the_service_can_be_set(spans: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", spans.url)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "sms")
    tracer = Tracer("bulksms-test")
    tracer.begin("act", PARENT, time.monotonic()).end()
    tracer.stop()
    assert [span.service for span in spans.spans] == ["sms"]


@pytest.mark.parametrize(
    ("headers", "trace_id", "recorded"),
    [
        ([(b"traceparent", PARENT.encode())], TRACE, True),
        ([(b"traceparent", PARENT.encode()), (b"tracestate", b"a=1"), (b"tracestate", b"b=2")], TRACE, True),
        ([(b"traceparent", f"00-{TRACE}-{SPAN}-00".encode())], TRACE, False),
        ([(b"traceparent", f"00-{'0' * 32}-{SPAN}-01".encode())], None, True),
        ([(b"traceparent", b"\xff nonsense")], None, True),
        ([(b"traceparent", PARENT.encode()), (b"traceparent", PARENT.encode())], None, True),
        ([], None, True),
    ],
)
def test_a_request_continues_the_trace_of_its_client(
    tracer: Tracer, headers: list[tuple[bytes, bytes]], trace_id: str | None, recorded: bool
) -> None:
    span = tracer.begin_request("POST /", headers)
    context = tracer.traceparent_of(span)
    assert (context is not None) == recorded
    if context is not None:
        _, own_trace, own_span, flags = context.split("-")
        assert (own_trace == TRACE) == (trace_id == TRACE) and own_span != SPAN and flags == "01"
    tracer.stop()


def test_the_spans_of_one_act_are_linked(tracer: Tracer, spans: Collector) -> None:
    traces = [f"{number:032x}" for number in (1, 2, 3)]
    for span in tracer.begin_joined("act", [f"00-{trace}-{SPAN}-01" for trace in traces], time.monotonic()):
        span.end()
    assert tracer.begin_joined("act", [], time.monotonic()) == []
    tracer.stop()
    first, *others = (spans.trace(trace)["act"] for trace in traces)
    assert first.links == [span.id for span in others]
    assert [span.links for span in others] == [[first.id], [first.id]]
