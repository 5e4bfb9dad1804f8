"""Jobs set aside, audits, the doctor, the guard and the audit log by the operator API."""

import dataclasses
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import text

from shared.audit.check import Breach
from shared.audit.results import record_audit
from shared.health import doctor
from tests.harness.operator import OperatorClient
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.jobs.auditor import audit_when_due

FAILED = text(
    """
    INSERT INTO job_failure (kind, subject, account_id, failures, error, retry_at, set_aside_at)
    VALUES (:kind, :subject, :account, 8, 'ValueError in worker/jobs/x.py, line 1', 'infinity', now())
    """
)


def test_a_job_that_was_set_aside_is_retried(service: Service, operator: OperatorClient) -> None:
    subject = str(uuid4())
    service.execute(FAILED, kind="erasure", subject=subject, account=service.account_id)
    (job,) = [each for each in operator.get("/failed-jobs").json["data"] if each["subject"] == subject]
    assert (job["kind"], job["account_id"], job["failures"]) == ("erasure", service.account_id, 8)
    retried = operator.post("/failed-jobs/retry", key="once", kind="erasure", subject=subject)
    assert retried.json == {"kind": "erasure", "subject": subject}
    assert operator.post("/failed-jobs/retry", key="once", kind="erasure", subject=subject).json == retried.json
    again = operator.post("/failed-jobs/retry", kind="erasure", subject=subject)
    assert (again.status_code, again.json["code"]) == (409, "state_conflict")
    for wrong in ({"kind": "nothing"}, {"kind": "import", "subject": "x" * 101}):
        assert operator.post("/failed-jobs/retry", **{"kind": "import", "subject": "x", **wrong}).status_code == 400
    assert operator.post("/failed-jobs/retry", kind="import", subject="no uuid").status_code == 409


def test_the_results_of_audits_are_kept(service: Service, operator: OperatorClient) -> None:
    service.execute("DELETE FROM lease")
    assert audit_when_due(service.engine)
    (clean,) = operator.get("/audits?limit=1").json["data"]
    assert (clean["breaches"], clean["frozen"], clean["full"]) == ([], [], False)
    breach = Breach("account_caches", "account 7", "available 7, by the ledger 8", 7)
    service.transact(record_audit, datetime.now(UTC), True, [breach], [7])
    (found,) = operator.get("/audits?limit=1").json["data"]
    assert (found["breaches"], found["frozen"], found["full"]) == ([dataclasses.asdict(breach)], [7], True)


@pytest.mark.parametrize("failing", ["IN_DEFAULT_PARTITION", "AWAITING", "RECEIPTS"])
def test_the_doctor_goes_on_after_a_check_that_fails(
    operator: OperatorClient, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    names = [each["name"] for each in operator.get("/doctor").json["findings"]]
    monkeypatch.setattr(doctor, failing, text("SELECT 1 / 0"))
    found = {each["name"]: each for each in operator.get("/doctor").json["findings"]}
    assert list(found) == names
    name = {"IN_DEFAULT_PARTITION": "partitions", "AWAITING": "queue", "RECEIPTS": "unmatched receipts"}[failing]
    assert (found[name]["outcome"], found[name]["detail"]) == ("wrong", "not checked: division by zero")
    assert found[name]["remedy"]


def test_the_guard_is_shown_and_released(service: Service, operator: OperatorClient) -> None:
    send = service.send(send_at=ahead()).json["send_id"]
    refused = operator.post("/guard/release", reason="nothing")
    assert (refused.status_code, refused.json["code"]) == (409, "state_conflict")
    service.execute("UPDATE installation SET held_since = now(), held_reason = 'restored', behind = 5")
    shown = operator.get("/guard").json
    assert (shown["held"], shown["reason"], shown["seconds_lost"]) == (True, "restored", 5)
    released = operator.post("/guard/release", key="once", reason="it is the right one")
    assert released.json["released"] and released.json["held_sends"] >= 1
    assert operator.post("/guard/release", key="once", reason="it is the right one").json == released.json
    assert operator.get("/guard").json["held"] is False
    assert operator.get(f"/sends/{send}").json["held_by"] == "operator"
    assert operator.post(f"/sends/{send}/release").json["status"] == "scheduled"


def test_the_log_is_filtered_and_paged(service: Service, operator: OperatorClient) -> None:
    for number in range(3):
        operator.post(f"/accounts/{service.account_id}/top-ups", credits=number + 1, reason=f"number {number}")
    path = f"/changes?account_id={service.account_id}&actor={operator.actor}&action=account.topped&limit=2"
    first = operator.get(path).json
    second = operator.get(f"{path}&cursor={first['next_cursor']}").json
    assert [each["reason"] for each in first["data"] + second["data"]] == ["number 2", "number 1", "number 0"]
    change = first["data"][0]
    assert (change["before"], change["after"]) == ({"available": 1003}, {"available": 1006})
    assert change["request_id"].startswith("req_") and change["address"]
    operator.post(f"/accounts/{service.account_id}/suspend", reason="unpaid")
    (change,) = operator.get(f"/changes?account_id={service.account_id}&action=account.suspended").json["data"]
    assert (change["before"], change["after"]) == ({"state": "active"}, {"state": "suspended"})
    assert operator.get("/changes?action=acc%25&limit=1").json["data"] == []
