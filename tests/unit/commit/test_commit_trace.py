"""The spans of a group commit."""

import time

import pytest

from api.commit.commit_trace import trace_commit
from shared.observability.otlp_tracer import Tracer
from tests.harness.collector import collector
from tests.harness.drafts import single


@pytest.mark.usefixtures("patient_exporter")
def test_sends_that_share_a_commit_are_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = [f"{number:032x}" for number in (1, 2)]
    drafts = [single(1) for _ in range(3)]
    for draft, trace in zip(drafts, traces, strict=False):
        draft.traceparent = f"00-{trace}-00f067aa0ba902b7-01"
    with collector() as spans:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", spans.url)
        tracer = Tracer("bulksms-test")
        trace_commit(tracer, drafts, time.monotonic())
        tracer.stop()
    first, second = (spans.trace(trace)["commit"] for trace in traces)
    assert len(spans.spans) == 2, "the third is not traced"
    assert (first.links, second.links) == ([second.id], [first.id])
    assert first.attributes == second.attributes == {"bulksms.commit.sends": 3}
