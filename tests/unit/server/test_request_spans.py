"""Requests while traces are on: which have a span, and what it says."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api.http.request import SUMMARY, current_request
from api.http.responses import Response
from api.server.application import Application, Reply
from api.server.exchange import Observed
from shared.observability import traces
from shared.observability.otlp_tracer import Tracer
from tests.harness.collector import Collector, collector
from tests.harness.on_the_loop import answered, handled, on_loop, scope

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = [
    (b"host", b"a"),
    (b"traceparent", f"00-{TRACE}-00f067aa0ba902b7-01".encode()),
    (b"x-request-id", b"254711000000"),
]


@pytest.fixture
def spans() -> Iterator[Collector]:
    with collector() as made:
        yield made


@pytest.fixture
def tracer(spans: Collector, monkeypatch: pytest.MonkeyPatch, patient_exporter: None) -> Tracer:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", spans.url)
    monkeypatch.setattr(traces, "tracer", Tracer("bulksms-test"))
    assert traces.tracer is not None
    return traces.tracer


def application(endpoint: Callable[[], Reply]) -> Observed:
    return Observed(Application(in_thread, on_loop(endpoint)))


def in_thread(environ: dict[str, Any], start: Callable[..., object]) -> list[bytes]:
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def test_it_works(tracer: Tracer, spans: Collector) -> None:
    def endpoint() -> Reply:
        summary = current_request().summary
        assert summary.traceparent is not None and TRACE in summary.traceparent
        summary.account_id, summary.send_id = 12, "a-send"
        return Response(b"ok")

    assert asyncio.run(handled(application(endpoint), HEADERS)).status == 200
    tracer.stop()
    [span] = spans.spans
    assert (span.name, span.kind, span.trace_id, span.failed) == ("POST /api/v1/sms/send", "server", TRACE, False)
    assert span.attributes == {
        "http.request.method": "POST",
        "http.route": "/api/v1/sms/send",
        "url.path": "/api/v1/sms/send",
        "http.response.status_code": 200,
        "bulksms.request.id": "254*******00",
        "bulksms.account.id": 12,
        "bulksms.send.id": "a-send",
    }


def test_an_error_is_marked(tracer: Tracer, spans: Collector) -> None:
    asyncio.run(handled(application(lambda: Response(b"", 503)), HEADERS))
    tracer.stop()
    [span] = spans.spans
    assert (span.failed, span.attributes["error.type"]) == (True, "503")


def test_a_client_that_leaves_is_shown_without_a_status(tracer: Tracer, spans: Collector) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pytest.fail("the client has left")

    request = scope(headers=[*HEADERS, (b"content-length", b"2")])
    asyncio.run(asyncio.wait_for(application(lambda: Response(b"ok"))(request, receive, send), 60))
    tracer.stop()
    [span] = spans.spans
    assert SUMMARY not in request and "http.response.status_code" not in span.attributes


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/messages"), ("POST", "/api/v1/sms/other")])
def test_other_requests_have_no_span(tracer: Tracer, spans: Collector, method: str, path: str) -> None:
    sent = asyncio.run(answered(application(lambda: Response(b"ok")), scope(path, method, HEADERS)))
    tracer.stop()
    assert sent[0]["status"] == 200 and spans.spans == []
