"""`bulksms doctor` reports webhooks that fail, and those that nobody posts to."""

import pytest
from sqlalchemy import text

from bulksms.environment import Installation
from shared.health.doctor import webhook_finding
from shared.settings import Settings
from tests.harness.service import Service

FAIL = text("UPDATE webhook SET failing_since = clock_timestamp() - make_interval(secs => :seconds)")
PROCESS = text("INSERT INTO lease (name, holder, held_until) VALUES ('webhooks:1', 'x', now() + interval '1 minute')")


@pytest.mark.parametrize(
    ("running", "seconds", "outcome"), [(True, 0, "ok"), (True, 601, "notice"), (False, 0, "wrong")]
)
def test_failing_webhooks_are_reported(service: Service, running: bool, seconds: int, outcome: str) -> None:
    assert service.post("/webhooks", url="https://hooks.example.com/sms").status_code == 200
    target = Installation(Settings("", "", "", ""), "a test", None)
    with service.engine.begin() as connection:
        if running:
            connection.execute(PROCESS)
        connection.execute(FAIL, {"seconds": seconds})
        finding = webhook_finding(connection, target)
        connection.execute(text("UPDATE webhook SET failing_since = NULL"))
        connection.execute(text("DELETE FROM lease"))
    assert finding.outcome == outcome
    details = {
        "ok": "posted to by 1 process",
        "notice": "failing for more than 10 minutes",
        "wrong": "no process posts to them",
    }
    assert finding.detail.endswith(details[outcome])
