"""A request's id leads through the logs of all processes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.house import STEADY, House, a_house, wait_until

pytestmark = pytest.mark.slow
PHONE = "254711000000"


service = a_house(workers=1, REQUEST_LOG_SAMPLE_RATE="1", **STEADY)


def lines(service: House, process: str, request_id: str) -> list[dict[str, Any]]:
    """The lines of processes that name a request."""
    paths: list[Path] = sorted(service.folder.glob(f"{process}*.log"))
    found = [json.loads(line) for path in paths for line in whole_lines(path) if request_id in line]
    return [line for line in found if line["request_id"] == request_id]


def whole_lines(path: Path) -> list[str]:
    """The lines of a log, without one that is being written."""
    return path.read_text().split("\n")[:-1]


def send(service: House, request_id: str, message: str = "Hi") -> dict[str, Any]:
    body = {"sender_id": "ACME", "phone": PHONE, "message": message}
    status, response = service.try_request("POST", "/sms/send", body, {"X-Request-Id": request_id})
    assert status == 200, response
    return dict(response)


def test_it_works(service: House) -> None:
    response = send(service, "my-order-1")
    wait_until(lambda: lines(service, "api", "my-order-1"), 60, "the request")
    [line] = lines(service, "api", "my-order-1")
    assert line["send_id"] == response["send_id"]
    assert (line["route"], line["status"], line["level"]) == ("POST /api/v1/sms/send", 200, "info")
    assert line["key"] == service.key.api_key and line["account"] > 0 and line["ms"] > 0 and line["bytes"] > 100
    wait_until(lambda: lines(service, "worker", "my-order-1"), 60, "its batch")
    [cycle] = lines(service, "worker", "my-order-1")
    assert cycle["send_id"] == response["send_id"] and cycle["statuses"] == {"sent": 1} and cycle["left"] == 0


def test_a_list_and_a_read_name_their_send(service: House) -> None:
    body = {"sender_id": "ACME", "phones": [str(254711000001 + number) for number in range(1500)], "message": "Hi"}
    _, response = service.try_request("POST", "/sms/send-bulk", body, {"X-Request-Id": "my-list"})
    service.try_request("GET", f"/sends/{response['send_id']}", headers={"X-Request-Id": "my-look"})
    service.wait_for_end()
    wait_until(lambda: lines(service, "api", "my-look"), 60, "the second request")
    for name in ("my-list", "my-look"):
        assert [line["send_id"] for line in lines(service, "api", name)] == [response["send_id"]]

    def settled() -> bool:
        cycles = lines(service, "worker", "my-list")
        return sum(sum(cycle["statuses"].values()) for cycle in cycles) == 1500

    wait_until(settled, 60, "the cycles")
    assert len({line["batch_id"] for line in lines(service, "worker", "my-list")}) == 2


def test_failures_are_there_with_what_is_known_of_them(service: House) -> None:
    service.try_request("POST", "/sms/send", {"phone": "?"}, {"X-Request-Id": "my-mistake"})
    service.try_request("GET", f"/nowhere/{PHONE}", headers={"X-Request-Id": PHONE})
    wait_until(lambda: lines(service, "api", "my-mistake"), 60, "the request")
    [line] = lines(service, "api", "my-mistake")
    assert (line["status"], line["level"], line["key"]) == (400, "info", service.key.api_key)
    assert line["code"] == "validation_failed"
    wait_until(lambda: lines(service, "api", "254*******00"), 60, "the request")
    assert PHONE not in "".join(path.read_text() for path in service.folder.glob("*.log"))


def test_a_batch_whose_worker_is_killed_is_followed_to_its_recovery(service: House) -> None:
    service.freeze_worker()  # nothing else claims
    send(service, "my-loss")
    service.kill_worker()
    with service.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE batch SET state = 'sending', epoch = epoch + 1, intent = 1, watermark = 1,"
            " lease_until = clock_timestamp() - interval '1 second' WHERE state = 'queued'"
        )
        connection.exec_driver_sql("UPDATE send SET state = 'sending' WHERE request_id = 'my-loss'")
    service.start_workers(1)
    wait_until(lambda: lines(service, "worker", "my-loss"), 60, "the recovery")
    [line] = lines(service, "worker", "my-loss")
    assert (line["level"], line["in_doubt"], line["left"]) == ("warning", 1, 0)
