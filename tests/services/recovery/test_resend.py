"""What becomes of messages without a response: in doubt for ever, or submitted again where the category asks for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.audit.check import audit
from tests.harness.house import OPEN, STEADY, House, house, wait_until

pytestmark = pytest.mark.slow

TAKEN_WITHOUT_ANSWER = "99905"
FIRST_RECEIPTS = "id IN (SELECT min(id) FROM simulated_receipt GROUP BY phone)"
SUBMITS = "SELECT count(*) FROM simulated_submit WHERE phone = {phone}"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, workers=1, RESEND_IN_DOUBT="authentication", SIMULATOR_RECEIPT_DELAY="3600", **STEADY) as made:
        made.new_account()
        yield made


def let_come(service: House, which: str) -> None:
    """Let the carrier deliver these receipts now, and not when their time has come."""
    service.execute(f"UPDATE simulated_receipt SET due_at = now() WHERE {which}")


def test_a_category_may_be_sent_again(service: House) -> None:
    phones = {"authentication": f"{TAKEN_WITHOUT_ANSWER}000001", "marketing": f"{TAKEN_WITHOUT_ANSWER}000002"}
    sends = {
        category: service.post("/sms/send", sender_id="ACME", phone=phone, message="Hi", category=category)["send_id"]
        for category, phone in phones.items()
    }
    wait_until(lambda: not service.scalar(OPEN), 60, "the sends")
    submits = {category: service.scalar(SUBMITS.format(phone=phone)) for category, phone in phones.items()}
    assert submits == {"authentication": 3, "marketing": 1}
    resent = {category: service.get(f"/sends/{send}")["resent"] for category, send in sends.items()}
    assert resent == {"authentication": 2, "marketing": 0}
    let_come(service, FIRST_RECEIPTS)
    for send in sends.values():
        wait_until(lambda send=send: service.get(f"/sends/{send}")["counts"]["delivered"] == 1, 60, "the receipt")  # type: ignore[misc]
    let_come(service, "true")
    service.wait_for_end(60)
    assert audit(service.engine, full=True) == []
