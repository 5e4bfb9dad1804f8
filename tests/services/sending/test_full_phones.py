"""Ten full phones among a thousand, with real workers and an SMSC: the others do not wait, and the ten expire."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bulksms.smsc.behavior import Behavior, Decision
from bulksms.smsc.server import running
from bulksms.smsc.settings import SmscSettings
from shared.audit.check import audit
from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import read_message
from tests.harness.house import STEADY, House, house, wait_until

pytestmark = pytest.mark.slow

PHONES = [str(254711000000 + number) for number in range(1_000)]
FULL = PHONES[7::100]
CARRIER = """
[carrier.main]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "us"
password = "right"
window = 40
"""


class FullPhones(Behavior):
    """Refuses what is for these phones, and counts how often."""

    def __init__(self) -> None:
        super().__init__(SmscSettings())
        self.plain = False
        self.refused: Counter[str] = Counter()

    def decide(self, destination: bytes) -> Decision:
        """ESME_RMSGQFUL for a full phone."""
        phone = destination.decode()
        if phone not in FULL:
            return super().decide(destination)
        self.refused[phone] += 1
        return Decision(Status.ESME_RMSGQFUL, taken=False)


@pytest.fixture
def carrier() -> Iterator[tuple[int, FullPhones, Counter[str]]]:
    """The SMSC's port, what it refuses, and what it has taken for each phone."""
    taken: Counter[str] = Counter()

    def watch(body: bytes, identity: str, verdict: str) -> None:
        if identity:
            taken[read_message(Command.SUBMIT_SM, body).destination] += 1

    with running(SmscSettings(port=0, receipt_delay=0.1), watch) as smsc:
        behavior = smsc.behavior = FullPhones()
        yield smsc.port, behavior, taken


def counts(service: House, send: str) -> dict[str, int]:
    return {name: count for name, count in service.get(f"/sends/{send}")["counts"].items() if count}


def test_it_works(tmp_path: Path, carrier: tuple[int, FullPhones, Counter[str]]) -> None:
    port, smsc, taken = carrier
    file = tmp_path / "carriers.toml"
    file.write_text(CARRIER.format(port=port))
    with house(tmp_path, workers=2, CARRIERS_FILE=str(file), **STEADY) as service:
        account = service.new_account()
        send = service.post("/sms/send-bulk", sender_id="ACME", phones=PHONES, message="Hi")["send_id"]
        wait_until(lambda: counts(service, send).get("delivered") == 990, 60, "the others")
        wait_until(lambda: min(smsc.refused[phone] for phone in FULL) >= 3, 60, "the attempts at the full ones")
        assert counts(service, send)["queued"] == len(FULL)
        assert service.scalar("SELECT sum(throttled) FROM carrier_report") == 0, "the carrier was not slowed down"
        with service.engine.begin() as connection:
            connection.execute(text("UPDATE send SET expires_at = clock_timestamp()"))
        wait_until(lambda: service.get(f"/sends/{send}")["status"] == "completed", 60, "the end of the full ones")
        assert counts(service, send) == {"submitted": 1000, "accepted": 1000, "delivered": 990, "expired": 10}
        reserved = f"SELECT reserved FROM account WHERE id = {account}"
        assert (service.scalar(reserved), service.get("/balance")["balance"]) == (0, 1_000_000 - 990)
        assert taken == Counter(phone for phone in PHONES if phone not in FULL), "once each"
        assert audit(service.engine, full=True) == []
