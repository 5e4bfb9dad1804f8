"""Canary and `stop_if` with real workers, one of which is killed: no more leaves than may, and the books are exact."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.audit.check import audit
from tests.harness.house import House, house, wait_until

pytestmark = pytest.mark.slow

PARTS = 3_000
REFUSED, FINE = 99902_000_0000, 254788000000


@pytest.fixture
def service(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, workers=2, SIMULATOR_RATE="2000", SIMULATOR_WINDOW="40") as made:
        made.new_account()
        yield made


def phones(first: int) -> list[str]:
    return [str(first + number) for number in range(PARTS)]


def send_to(service: House, first: int, **more: Any) -> str:
    response = service.post("/sms/send-bulk", sender_id="ACME", phones=phones(first), message="Hi", **more)
    return str(response["send_id"])


def is_over(service: House, canary: str) -> bool:
    """Whether the send is completed. If the killed worker left too many in doubt, it is resumed."""
    shown = service.get(f"/sends/{canary}")
    if shown["held_by"] == "canary" and "in doubt" in shown["held_reason"]:
        service.post(f"/sends/{canary}/resume")
    return bool(shown["status"] == "completed")


def test_no_more_messages_are_sent_than_the_rules_allow(service: House) -> None:
    stopped = send_to(service, REFUSED, stop_if={"failed_share": 0.2, "min_messages": 50})
    canary = send_to(service, FINE, canary="2%")
    wait_until(lambda: service.scalar("SELECT count(*) FROM simulated_submit WHERE phone < 990000000000"), 60, "it")
    service.kill_worker()
    service.start_workers(1)
    wait_until(lambda: service.get(f"/sends/{stopped}")["held_by"] == "stop_if", 60, "the stop")
    wait_until(lambda: is_over(service, canary), 60, "the end")
    shown = service.get(f"/sends/{stopped}")
    # Each of the two cycles of two workers, and of the one that was killed, had at most 50 under way.
    assert 50 <= shown["counts"]["failed"] + shown["counts"]["in_doubt"] <= 6 * 50
    held = "SELECT count(*) FROM simulated_submit WHERE phone BETWEEN 999020000000 AND 999029999999"
    assert service.scalar(held) <= 6 * 50
    assert service.post(f"/sends/{stopped}/cancel")["status"] == "canceled"
    wait_until(lambda: not service.scalar("SELECT count(*) FROM simulated_receipt"), 60, "the receipts")
    assert service.most_submits() == 1
    counts = service.get(f"/sends/{canary}")["counts"]
    assert counts["delivered"] + counts["sent"] + counts["in_doubt"] == PARTS
    assert audit(service.engine, full=True) == []
