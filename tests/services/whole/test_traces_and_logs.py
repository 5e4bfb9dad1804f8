"""A request can be followed through all processes: by its id in their logs, and by its trace at a collector, which may
be slow without anybody noticing."""

import json
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.harness.collector import Collector, collector
from tests.harness.house import SECRET_KEY, STEADY, House, house, wait_until
from tests.harness.receiver import Post, receiver

pytestmark = pytest.mark.slow
PHONE, TEXT, SENDER = "254711000000", "Canary, a text that nobody may read", "CANARYSENDER"
CLIENT_SPAN = "00f067aa0ba902b7"
ROUTE = "POST /api/v1/sms/send"
MASKED, ORDER, LOSS = "254*******00", "my-order-1", "my-loss"
"""Ids of requests, the first as one is shown that is a phone number."""
WHOLE = {ROUTE, "commit", "cycle", "submit", "settle", "receipts", "webhook"}


class Traced(NamedTuple):
    """What a service has done and sent to its collector. Traces are given by their ids."""

    service: House
    spans: Collector
    posts: list[Post]
    single: str
    unsampled: str
    together: list[str]
    lost: str


def send(service: House, trace_id: str, request_id: str = PHONE, sampled: str = "01") -> None:
    body = {"sender_id": SENDER, "phone": PHONE, "message": TEXT}
    headers = {"traceparent": f"00-{trace_id}-{CLIENT_SPAN}-{sampled}", "X-Request-Id": request_id}
    status, response = service.try_request("POST", "/sms/send", body, headers)
    assert status == 200, response


def lose(service: House, trace_id: str) -> None:
    """A send whose worker dies with it."""
    service.freeze_worker()  # nothing else claims
    send(service, trace_id, LOSS)
    service.kill_worker()
    with service.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE batch SET state = 'sending', epoch = epoch + 1, intent = 1, watermark = 1,"
            " lease_until = clock_timestamp() - interval '1 second' WHERE state = 'queued'"
        )
        connection.exec_driver_sql("UPDATE send SET state = 'sending' WHERE completed_at IS NULL")
    service.start_workers(1)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    single, unsampled, lost, *together = (secrets.token_hex(16) for _ in range(6))
    failures = iter([500])

    def respond(post: Post) -> int:
        return next(failures, 204) if "traceparent" in post.headers else 204

    with collector() as spans, receiver(respond) as there:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": spans.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        settings |= {"OTEL_EXPORTER_OTLP_TIMEOUT": "60", "REQUEST_LOG_SAMPLE_RATE": "1", **STEADY}
        with house(tmp_path_factory.mktemp("house"), workers=1, WEBHOOK_LOOPBACK="1", **settings) as service:
            service.start_webhooks()
            service.new_account(sender=SENDER)
            service.post("/webhooks", url=there.url)
            send(service, unsampled, sampled="00")
            send(service, single, ORDER)
            wait_until(lambda: spans.trace(single).keys() >= WHOLE, 60, "the whole trace")
            worker = service.freeze_worker()  # so that one cycle claims them all
            for trace_id in together:
                send(service, trace_id)
            os.kill(worker, signal.SIGCONT)
            wait_until(lambda: all(spans.trace(each).keys() >= WHOLE for each in together), 60, "their traces")
            lose(service, lost)
            wait_until(lambda: "recover" in spans.trace(lost), 60, "the recovery")
            yield Traced(service, spans, there.posts, single, unsampled, together, lost)


def test_it_works(traced: Traced) -> None:
    trace = traced.spans.trace(traced.single)
    assert {name: span.service for name, span in trace.items()} == {
        **dict.fromkeys((ROUTE, "commit"), "bulksms-api"),
        **dict.fromkeys(("cycle", "submit", "settle", "receipts"), "bulksms-worker"),
        "webhook": "bulksms-webhooks",
    }
    request, cycle = trace[ROUTE], trace["cycle"]
    assert request.parent_id == CLIENT_SPAN
    assert {trace[name].parent_id for name in ("commit", "cycle", "receipts", "webhook")} == {request.id}
    assert {trace[name].parent_id for name in ("submit", "settle")} == {cycle.id}
    assert all(span.began <= span.ended for span in trace.values())
    assert cycle.began <= trace["submit"].began <= trace["submit"].ended <= trace["settle"].ended <= cycle.ended
    send_id = request.attributes["bulksms.send.id"]
    assert {trace[name].attributes["bulksms.send.id"] for name in ("cycle", "receipts")} == {send_id}
    assert (request.attributes["http.response.status_code"], request.failed) == (200, False)
    assert cycle.attributes["bulksms.messages.sent"] == trace["submit"].attributes["bulksms.responses.accepted"] == 1
    assert trace["receipts"].attributes["bulksms.messages.delivered"] == 1


def test_the_receiver_of_a_webhook_can_follow_the_trace(traced: Traced) -> None:
    contexts = [post.headers.get("traceparent", "") for post in traced.posts]
    posted = {context for context in contexts if traced.single in context}
    spans = [span for span in traced.spans.spans if (span.name, span.trace_id) == ("webhook", traced.single)]
    assert posted and posted >= {f"00-{traced.single}-{span.id}-01" for span in spans}


def test_the_work_of_one_cycle_for_several_sends_is_linked(traced: Traced) -> None:
    traces = [traced.spans.trace(each) for each in traced.together]
    for name in ("cycle", "submit", "settle"):
        spans = [trace[name] for trace in traces]
        hub = max(spans, key=lambda span: len(span.links))
        others = {span.id for span in spans} - {hub.id}
        assert set(hub.links) == others and len(others) == 2
        assert all(span.links == [hub.id] for span in spans if span is not hub)
    assert {trace["submit"].attributes["bulksms.window.messages"] for trace in traces} == {3}


def test_a_batch_whose_worker_is_killed_is_followed_to_its_recovery(traced: Traced) -> None:
    recovered = traced.spans.trace(traced.lost)["recover"]
    assert recovered.attributes["bulksms.messages.in_doubt"] == 1
    [line] = lines(traced.service, "worker", LOSS)
    assert (line["level"], line["in_doubt"], line["left"]) == ("warning", 1, 0)


def lines(service: House, process: str, request_id: str) -> list[dict[str, Any]]:
    """The lines of the logs of processes that name a request, when there are any."""

    def found() -> list[dict[str, Any]]:
        texts = [path.read_text() for path in sorted(service.folder.glob(f"{process}*.log"))]
        whole = [line for text in texts for line in text.split("\n")[:-1]]  # the last one is being written
        naming = [json.loads(line) for line in whole if request_id in line]
        return [line for line in naming if line["request_id"] == request_id]

    wait_until(found, 60, "the request")
    return found()


def test_the_id_of_a_request_leads_through_the_logs(traced: Traced) -> None:
    service = traced.service
    [line], [cycle] = (lines(service, process, ORDER) for process in ("api", "worker"))
    assert (line["route"], line["status"], line["level"]) == (ROUTE, 200, "info")
    assert line["key"] == service.key.api_key and line["account"] > 0 and line["ms"] > 0 and line["bytes"] > 100
    assert cycle["send_id"] == line["send_id"] and cycle["statuses"] == {"sent": 1} and cycle["left"] == 0


def test_the_log_of_a_list_and_of_a_read_names_the_send(traced: Traced) -> None:
    service = traced.service
    body = {"sender_id": SENDER, "phones": [str(254711000001 + number) for number in range(1500)], "message": "Hi"}
    _, response = service.try_request("POST", "/sms/send-bulk", body, {"X-Request-Id": "my-list"})
    service.try_request("GET", f"/sends/{response['send_id']}", headers={"X-Request-Id": "my-look"})
    service.wait_for_end()
    for name in ("my-list", "my-look"):
        assert [line["send_id"] for line in lines(service, "api", name)] == [response["send_id"]]

    def settled() -> bool:
        return sum(sum(cycle["statuses"].values()) for cycle in lines(service, "worker", "my-list")) == 1500

    wait_until(settled, 60, "the cycles")
    assert len({line["batch_id"] for line in lines(service, "worker", "my-list")}) == 2


def test_the_log_of_a_failure_says_what_is_known_of_it(traced: Traced) -> None:
    service = traced.service
    service.try_request("POST", "/sms/send", {"phone": "?"}, {"X-Request-Id": "my-mistake"})
    service.try_request("GET", f"/nowhere/{PHONE}", headers={"X-Request-Id": PHONE})
    [line] = lines(service, "api", "my-mistake")
    assert (line["status"], line["level"], line["key"]) == (400, "info", service.key.api_key)
    assert line["code"] == "validation_failed"
    wait_until(lambda: any(each["status"] == 404 for each in lines(service, "api", MASKED)), 60, "the request")
    assert PHONE not in "".join(path.read_text() for path in service.folder.glob("*.log"))


def test_no_span_has_private_data(traced: Traced) -> None:
    service, sent = traced.service, b"".join(traced.spans.bodies)
    assert MASKED.encode() in sent, "the request's id, masked"
    of_the_account = (service.token, service.key.api_key, service.key.api_secret)
    for secret in (PHONE, TEXT, SENDER, SECRET_KEY, "/hook", *of_the_account):
        assert secret.encode() not in sent, secret


def test_a_collector_that_hangs_delays_nothing(tmp_path: Path) -> None:
    with collector(hangs=True) as spans:
        settings = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": spans.url,
            "OTEL_EXPORTER_OTLP_TIMEOUT": "600",
            "OTEL_BSP_SCHEDULE_DELAY": "10",
            "OTEL_BSP_MAX_QUEUE_SIZE": "16",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4",
            **STEADY,
        }
        with house(tmp_path, workers=1, **settings) as service:
            service.new_account()
            for number in range(100):
                service.post("/sms/send", sender_id="ACME", phone=str(254711000000 + number), message="Hi")
            service.wait_for_end()
            assert service.scalar("SELECT count(*) FROM message WHERE status = 'delivered'") == 100
            services = {"bulksms-api", "bulksms-worker"}
            wait_until(lambda: {span.service for span in spans.spans} == services, 60, "the first spans")
        assert len(spans.bodies) <= 3, "each process waits for its first response in vain"
        assert service.api is not None
        assert [process.exit_code() for process in (service.api, *service.workers)] == [0, 0], "none had to be killed"
