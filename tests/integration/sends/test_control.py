"""Canceling, pausing and resuming; scheduled sends that start when they are due; and lists of sends."""

import pytest
from sqlalchemy import text

from shared.accounts.administration import create_key
from shared.sends import batch_states, send_states
from tests.harness.service import PREFIX, SECRET_KEY, Service
from tests.harness.times import ahead

COPIES = text(
    """
    INSERT INTO batch
    SELECT (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(), 'carrier', 'closed'))).*
      FROM batch b, generate_series(1, 1000) WHERE b.account_id = :account
    """
)


def test_it_works(service: Service) -> None:
    send = service.bulk(["254711000000", "254711000001"], send_at=ahead()).json["send_id"]
    assert service.get("/balance").json["reserved"] == 2
    assert service.post(f"/sends/{send}/cancel").json["status"] == "canceled"
    assert service.counts(send) == {"submitted": 2, "accepted": 2, "canceled": 2}
    assert service.get("/balance").json["balance"] == 1000
    statuses = {message["status"] for message in service.get(f"/sends/{send}/messages").json["data"]}
    assert statuses == {"canceled"}


def test_what_was_sent_cannot_be_canceled(service: Service) -> None:
    send = service.send().json["send_id"]
    response = service.post(f"/sends/{send}/cancel")
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")


def test_a_paused_send_waits_until_it_is_resumed(service: Service) -> None:
    send = service.send("254788000001", send_at=ahead()).json["send_id"]
    assert service.post(f"/sends/{send}/pause").json["status"] == "paused"
    service.sweep()
    assert "254788000001" not in service.submitted()
    assert service.post(f"/sends/{send}/resume").json["status"] == "scheduled"
    response = service.post(f"/sends/{send}/resume")
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")


@pytest.mark.parametrize("action", ["cancel", "pause", "resume", None])
def test_a_key_that_may_only_send_is_shown_no_send(service: Service, action: str | None) -> None:
    """By the response to a change it would see the text, the counts and what they cost."""
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=["sms:send"])
    credentials = {"api_key": key.api_key, "api_secret": key.api_secret}
    token = service.client.post(f"{PREFIX}/auth/token", json=credentials).json["access_token"]
    body = {"sender_id": "ACME", "phone": "254711000000", "message": "a secret", "send_at": ahead()}
    send = service.post("/sms/send", token=token, **body).json["send_id"]
    if action is None:
        response = service.patch(f"/sends/{send}", token=token, rate=5)
    else:
        response = service.post(f"/sends/{send}/{action}", token=token)
    assert (response.status_code, response.json["code"], response.json["scope"]) == (
        403,
        "insufficient_scope",
        "sms:read",
    )
    assert "a secret" not in response.text
    assert service.get(f"/sends/{send}").json["status"] == "scheduled"


DUE = text("UPDATE send SET send_at = now() WHERE id = ANY(CAST(:ids AS uuid[]))")
LOCK = text("SELECT FROM send WHERE id = :id FOR UPDATE")


def scheduled(service: Service, count: int) -> list[str]:
    """Sends that were scheduled for later, and are due."""
    sends = [service.send(send_at=ahead()).json["send_id"] for _ in range(count)]
    service.execute(DUE, ids=sends)
    return sends


def test_a_send_that_somebody_changes_keeps_no_other_from_starting(service: Service) -> None:
    changed, other = scheduled(service, 2)
    with service.engine.begin() as changing:
        changing.execute(LOCK, {"id": changed})
        assert [str(row.id) for row in service.execute(send_states.START_DUE)] == [other]
    assert [str(row.id) for row in service.execute(send_states.START_DUE)] == [changed]


def test_a_statement_starts_a_bounded_number(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled(service, 3)
    few = text(str(send_states.START_DUE).replace("LIMIT 10000", "LIMIT 2"))
    monkeypatch.setattr(send_states, "START_DUE", few)
    started = []
    for _ in range(3):
        started.append(len(service.execute(send_states.START_DUE)))
    assert started == [2, 1, 0]


def start(service: Service, send: str) -> None:
    """As if a worker had begun the send."""
    service.execute("UPDATE send SET state = 'sending', send_at = NULL WHERE id = :send", send=send)


def test_sends_in_progress_are_bulk_and_group_sends_that_are_due(service: Service) -> None:
    running, waiting = (service.bulk(["254711000001"], send_at=ahead()).json["send_id"] for _ in range(2))
    single = service.send(send_at=ahead()).json["send_id"]
    start(service, running)
    start(service, single)
    service.bulk(["254711000002"])
    found = [each["send_id"] for each in service.get("/sends?in_progress=true").json["data"]]
    assert found == [running]
    assert len(service.get("/sends?in_progress=false").json["data"]) == 4
    assert service.get("/sends?in_progress=true&status=paused").json["data"] == []
    assert service.get("/sends?in_progress=yes").status_code == 400
    assert waiting not in found


def test_errors_of_a_send_are_counted_by_status_and_code(service: Service) -> None:
    send = service.bulk(["254711000001", "999020000001", "999020000002"]).json["send_id"]
    counted = service.get(f"/sends/{send}/errors").json["data"]
    (failed,) = counted
    assert (failed["status"], failed["count"]) == ("failed", 2)
    assert service.get(f"/sends/{service.bulk(['254711000001']).json['send_id']}/errors").json["data"] == []


def test_rejected_recipients_of_a_send_are_listed_as_its_response_did(service: Service) -> None:
    sent = service.bulk(["254711000001", "0711", "254711000001"]).json
    listed = service.get(f"/sends/{sent['send_id']}/rejected").json["data"]
    assert listed == sent["rejected"] and [each["code"] for each in listed] == ["invalid_phone", "duplicate"]
    all_accepted = service.bulk(["254711000001"]).json["send_id"]
    assert service.get(f"/sends/{all_accepted}/rejected").json["data"] == []


def test_rejected_recipients_of_a_group_are_listed(service: Service) -> None:
    group = service.new_group(["254711000001"])
    contacts = [{"phone": "254711000002", "fields": {"name": "Ann"}}]
    assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi {{name}}"}
    sent = service.post("/sms/send-group", **body).json
    (listed,) = service.get(f"/sends/{sent['send_id']}/rejected").json["data"]
    assert (listed["phone"], listed["code"]) == ("254711000001", "missing_variable")


def test_what_is_due_does_not_wait_behind_what_waits_for_a_carrier(service: Service) -> None:
    service.send(send_at=ahead())
    with service.engine.connect() as connection:
        of_account = {"account": service.account_id}
        due = text("UPDATE batch SET due_at = :at WHERE account_id = :account AND carrier IS NULL RETURNING id")
        connection.execute(due, {**of_account, "at": "2020-01-01"})
        connection.execute(COPIES, of_account)
        scheduled = connection.execute(due, {**of_account, "at": "2020-01-02"}).scalar_one()
        woken = connection.execute(batch_states.WAKE_DUE).scalars().all()
        assert (len(woken), scheduled in woken) == (501, True)
