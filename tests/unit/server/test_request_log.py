"""The log line of a request: which requests have one, and what it holds."""

import json
import logging
from typing import Any

import pytest

from api.http.request import SUMMARY, Summary
from api.server import request_log
from api.server.request_log import RequestLog
from shared.observability.logs import JsonLines
from tests.harness.on_the_loop import scope


def ended(path: str = "/api/v1/sms/send", sampled: bool | None = True, route: str = "POST /api/v1/sms/send") -> Any:
    """The scope of a request; `sampled=None` is one that did not reach the API."""
    request = scope(path)
    if sampled is not None:
        summary = request[SUMMARY] = Summary("req_1", sampled)
        summary.route, summary.account_id, summary.key_id = route, 7, "smsk_live_1"
    return request


def lines(log: RequestLog, caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    caplog.clear()
    with caplog.at_level(logging.INFO, "api.requests"):
        log.flush()
    return [json.loads(JsonLines().format(record)) for record in logged(caplog)]


def logged(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What request logs have written, and not what threads of other tests log."""
    return [record for record in caplog.records if record.name == request_log.log.name]


def test_nothing_is_lost_when_it_stops_while_its_thread_writes(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "FLUSH_SECONDS", 1e-6)
    for _ in range(20):
        caplog.clear()
        log = RequestLog()
        with caplog.at_level(logging.INFO, "api.requests"):
            log.start()
            for _ in range(100):
                log.add(ended(), 200, [], 0.0, 0)
            log.stop()
        assert len(logged(caplog)) == 100


@pytest.mark.parametrize(("status", "level"), [(200, None), (404, "info"), (499, "info"), (503, "error")])
def test_only_failed_requests_are_logged_when_not_sampled(
    caplog: pytest.LogCaptureFixture, status: int, level: str | None
) -> None:
    log = RequestLog()
    log.add(ended(sampled=False), status, [], 0.0, 0)
    assert [line["level"] for line in lines(log, caplog)] == ([] if level is None else [level])


@pytest.mark.parametrize(
    "segment", ["254711000000", "0711000099", "id_254711000099", "254-711-000-099", "٢٥٤٧١١٠٠٠٠٠٠", "a" * 33]
)
def test_a_request_without_an_endpoint_is_logged_without_phones_or_secrets(
    segment: str, caplog: pytest.LogCaptureFixture
) -> None:
    log = RequestLog()
    log.add(ended(route="") | {"path": f"/nowhere/{segment}"}, 404, [], 0.0, 0)
    [line] = lines(log, caplog)
    assert line["path"] == "POST /nowhere/…" and "route" not in line


def test_a_request_refused_before_the_api_is_logged_with_the_id_of_its_response(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = RequestLog()
    log.add(ended(sampled=None), 429, [(b"x-request-id", b"req_2")], 0.0, 0)
    [line] = lines(log, caplog)
    assert (line["request_id"], line["status"], "account" in line) == ("req_2", 429, False)


def test_the_number_of_waiting_log_lines_is_bounded(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "MAX_WAITING", 5)
    monkeypatch.setattr(request_log, "MAX_CLIENT_ERRORS", 3)
    log = RequestLog()
    for status in (401, 401, 401, 401, 200, 503, 503):
        log.add(ended(), status, [], 0.0, 0)
    written = lines(log, caplog)
    assert [line["status"] for line in written[:-1]] == [401, 401, 401, 200, 503]
    assert written[-1]["message"].startswith("2 requests were not logged")
    log.add(ended(), 401, [], 0.0, 0)
    assert len(lines(log, caplog)) == 1
