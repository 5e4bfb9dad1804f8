"""Each fault that an operator must know of makes its alert fire, and healthy traffic none.

The windows of the rules are seconds here instead of minutes and hours. Where Prometheus is not installed these tests
fail: they are run only when they are asked for.
"""

import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bulksms.local.ports import free_port
from tests.harness.house import wait_until
from tests.observe.watched import Watched, phones, run, send, send_one

pytestmark = pytest.mark.prometheus
HEALTHY_SECONDS = 40


def test_healthy_traffic_fires_nothing(watched: Watched) -> None:
    wait_until(lambda: not watched.prometheus.firing(), 60, "the end of what fires at the start")
    until = time.monotonic() + HEALTHY_SECONDS
    number = 254712000000
    while time.monotonic() < until:
        number += 1
        watched.service.post("/sms/send", sender_id="ACME", phone=str(number), message="Hi")
        assert watched.prometheus.firing() == set()
        time.sleep(0.1)
    submitted = watched.prometheus.value('sum(bulksms_messages_total{status="sent"})')
    assert submitted is not None and submitted > 100


def test_webhooks_that_fail(watched: Watched) -> None:
    made = watched.service.post("/webhooks", url=f"http://127.0.0.1:{free_port()}/", events=["message.delivered"])
    send(watched.service, phones(5, 254713000000))
    watched.prometheus.wait_for("BulksmsWebhooksFailing")
    watched.service.request("DELETE", f"/webhooks/{made['webhook_id']}")
    watched.prometheus.wait_for_end_of("BulksmsWebhooksFailing")


@pytest.mark.parametrize(
    ("kind", "count", "alert"),
    [
        ("99902", 30, "BulksmsCarrierFailing"),
        ("99903", 300, "BulksmsCarrierThrottling"),
        ("99909", 60, "BulksmsReceiptsMissing"),
        ("99906", 120, "BulksmsDoubtsGrowing"),
    ],
)
def test_a_carrier_that_misbehaves(watched: Watched, kind: str, count: int, alert: str) -> None:
    watched.prometheus.wait_for_end_of(alert)
    stop = threading.Event()

    def keep_sending() -> None:
        for number in range(20):
            if stop.is_set():
                return
            send(watched.service, phones(count, int(f"{kind}0000000") + 1000 * number))
            stop.wait(2)

    sending = threading.Thread(target=keep_sending)
    sending.start()
    try:
        watched.prometheus.wait_for(alert)
    finally:
        stop.set()
        sending.join()


def test_a_send_that_is_held(watched: Watched) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    response = watched.service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi", send_at=tomorrow)
    run(watched.service, "send", "hold", response["send_id"], "--reason", "a trial")
    watched.prometheus.wait_for("BulksmsSendsHeld")
    run(watched.service, "send", "cancel", response["send_id"])
    watched.prometheus.wait_for_end_of("BulksmsSendsHeld")


def test_sends_that_take_long(watched: Watched) -> None:
    with watched.service.engine.begin() as connection:
        connection.execute(text("SELECT FROM account FOR UPDATE"))
        slow = threading.Thread(
            target=watched.service.post,
            args=("/sms/send",),
            kwargs={"sender_id": "ACME", "phone": "254714000000", "message": "Hi"},
        )
        slow.start()
        time.sleep(1.0)
    slow.join()
    watched.prometheus.wait_for("BulksmsAcceptSlow")


def test_a_carrier_that_is_down(watched: Watched) -> None:
    watched.smsc.stop()
    watched.prometheus.wait_for("BulksmsCarrierDown")
    send_one(watched.service, "254715000000", "authentication")
    send(watched.service, phones(3, 254715000001))
    send(watched.service, phones(3, 254715000001), "marketing")
    watched.prometheus.wait_for("BulksmsQueueOld")
    with watched.with_hours_of(60) as hurried:
        for alert in ("BulksmsQueueStalled", "BulksmsMarketingStalled"):
            hurried.wait_for(alert)
        watched.smsc.launch()
        for alert in ("BulksmsQueueStalled", "BulksmsMarketingStalled"):
            hurried.wait_for_end_of(alert)
    watched.prometheus.wait_for_end_of("BulksmsCarrierDown")
    watched.prometheus.wait_for("BulksmsAuthenticationLate")


def test_no_workers_and_no_webhook_process(watched: Watched) -> None:
    while watched.service.workers:
        watched.service.kill_worker()
    watched.service.kill_webhooks()
    for alert in ("BulksmsNoWorkers", "BulksmsNoWebhookProcess", "BulksmsTargetDown"):
        watched.prometheus.wait_for(alert)
    watched.service.start_workers(2)
    watched.prometheus.wait_for_end_of("BulksmsNoWorkers")


def test_money_that_does_not_add_up(watched: Watched) -> None:
    watched.service.execute("UPDATE account SET available = available + 1 WHERE name = 'acme'")
    subprocess.run(
        [str(Path(sys.executable).parent / "bulksms"), "audit"],
        env=watched.service.env,
        capture_output=True,
        timeout=60,
    )
    watched.prometheus.wait_for("BulksmsAccountFrozen")


def test_no_database_and_no_api(watched: Watched) -> None:
    watched.service.engine.dispose()
    watched.service.postgres.stop()
    for _ in range(20):
        watched.service.try_request("POST", "/sms/send", {"sender_id": "ACME", "phone": "254711000000"})
        if watched.prometheus.firing() >= {"BulksmsAcceptErrors", "BulksmsNoMetrics"}:
            break
        time.sleep(1)
    watched.prometheus.wait_for("BulksmsAcceptErrors", 10)
    watched.prometheus.wait_for("BulksmsNoMetrics")
    watched.service.postgres.start()
