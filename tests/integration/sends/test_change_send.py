"""Changing a send that waits: its time, its validity, its rate, its text and with that its price."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from werkzeug.test import TestResponse

import worker.jobs.expand
import worker.sending.settle_rest
from shared.accounts.limits import set_limits
from shared.audit.check import audit
from shared.sends.holding import hold, release
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.integration.sending.test_rules import quiet_now
from worker.jobs.expand import expand

PHONES = ["254755000001", "254755000002"]


def ahead(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def waiting(service: Service, **more: Any) -> str:
    return str(service.bulk(PHONES, **{"send_at": ahead(1), **more}).json["send_id"])


def change(service: Service, send: str, **changes: Any) -> TestResponse:
    return service.patch(f"/sends/{send}", **changes)


def test_it_works(service: Service) -> None:
    send, due = waiting(service), ahead(2)
    assert change(service, send, send_at=due).json["send_at"] == due
    assert change(service, send, expires_at=ahead(3), rate=5).json["rate"] == 5
    assert change(service, send, rate=None).json["rate"] is None
    sent = change(service, send, send_at=None).json
    assert sent["status"] == "queued" and sent["created_at"] < sent["send_at"] < due
    assert service.counts(send)["sent"] == 2
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize(
    ("before", "after"), [("Hi", "Hi " * 60), ("Hi " * 60, "Hi"), ("Hi", "Ho"), ("Hi", "Жар " * 40)]
)
def test_another_text_is_priced_exactly(service: Service, before: str, after: str) -> None:
    send = waiting(service, message=before)
    for message in (after, before, after):
        changed = change(service, send, message=message).json
        balance = service.get("/balance").json
        assert balance["reserved"] == changed["cost"] == changed["segments"]["per_message"] * 2
        assert balance["balance"] + balance["reserved"] == 1000
        assert audit(service.engine, full=True) == []
    change(service, send, send_at=None)
    service.deliver_receipts()
    assert service.get("/balance").json["balance"] == 1000 - changed["cost"]
    assert service.get(f"/sends/{send}").json["charged"] == changed["cost"]
    assert audit(service.engine, full=True) == []


def test_a_text_that_cannot_be_paid_changes_nothing(service: Service) -> None:
    service = Service(service.engine, credits=3)
    send = waiting(service)
    response = change(service, send, message="Hi " * 60, rate=7)
    assert (response.status_code, response.json["required"], response.json["balance"]) == (402, 2, 1)
    shown = service.get(f"/sends/{send}").json
    assert (shown["message"], shown["cost"], shown["rate"]) == ("Hi", 2, None)


def test_an_account_that_may_not_send_cannot_pay_for_a_longer_text(service: Service) -> None:
    send = waiting(service)
    service.send()
    service.execute("UPDATE account SET state = 'frozen' WHERE id = :id", id=service.account_id)
    for response in (service.send(), change(service, send, message="a" * 161)):
        assert (response.status_code, response.json["code"]) == (403, "account_suspended")


def test_another_text_counts_for_the_spend_limit(service: Service) -> None:
    send = waiting(service)
    service.transact(set_limits, service.account_id, spend_day=5)
    assert change(service, send, message="Hi " * 60).json["cost"] == 4
    response = change(service, send, message="Hi " * 110)
    assert (response.status_code, response.json["code"]) == (402, "spend_limit_reached")
    assert service.get(f"/sends/{send}").json["cost"] == 4
    assert change(service, send, message="Hi").json["cost"] == 2
    assert audit(service.engine, full=True) == []


def test_a_default_expiry_moves_with_each_change_of_the_time(service: Service) -> None:
    send = waiting(service)
    service.post(f"/sends/{send}/pause")
    for send_at in (ahead(2), None, ahead(4), ahead(1), None):
        changed = change(service, send, send_at=send_at).json
        due, expires_at = (datetime.fromisoformat(changed[name]) for name in ("send_at", "expires_at"))
        assert expires_at - due == timedelta(hours=72)
    explicit = change(service, send, expires_at=ahead(9)).json["expires_at"]
    assert change(service, send, send_at=ahead(5)).json["expires_at"] == explicit


def test_a_text_does_not_change_while_a_page_of_its_group_is_expanded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's batches are committed while the change waits for the send: they may be claimed at once."""
    group = service.new_group(PHONES)
    send = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", send_at=ahead(1)).json
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=send["send_id"])
    responses: list[TestResponse] = []
    changing = Thread(target=lambda: responses.append(change(service, send["send_id"], message="Hi " * 60)))

    def before_commit(name: str) -> None:
        if name == "expand.before_commit":
            changing.start()
            wait_until_somebody_waits(service.engine)

    monkeypatch.setattr(worker.jobs.expand, "crashpoint", before_commit)
    assert expand(service.engine)
    join_all(changing)
    assert [(each.status_code, each.json["code"]) for each in responses] == [(409, "state_conflict")]
    service.sweep()
    assert service.counts(send["send_id"])["sent"] == 2
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 998, "reserved": 0}
    assert audit(service.engine, full=True) == []


def test_a_group_send_that_is_partly_expanded_waits_again(service: Service) -> None:
    service = Service(service.engine, credits=20_000)
    group = service.new_group([str(255760000000 + number) for number in range(10_000)])
    send = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", send_at=ahead(1)).json
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=send["send_id"])
    assert expand(service.engine)
    assert change(service, send["send_id"], send_at=ahead(1), message="Hi " * 60).json["status"] == "scheduled"
    service.sweep()
    assert service.counts(send["send_id"])["scheduled"] == 10_000
    change(service, send["send_id"], send_at=None)
    assert service.counts(send["send_id"])["sent"] == 10_000
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 0, "reserved": 0}
    assert audit(service.engine, full=True) == []


def test_a_send_that_has_begun_keeps_its_time_and_text(service: Service) -> None:
    phones = [str(254755000000 + number) for number in range(30)]
    send = service.bulk(phones, rate=1).json["send_id"]
    assert 0 < service.counts(send)["sent"] < 30
    for changes in ({"message": "Ho"}, {"send_at": ahead(1)}):
        response = change(service, send, **changes)
        assert (response.status_code, response.json["code"]) == (409, "state_conflict")
    assert change(service, send, rate=None, expires_at=ahead(1)).status_code == 200
    service.sweep()
    assert service.counts(send)["sent"] == 30
    assert change(service, send, rate=1).json["send_status"] == "completed"


def test_a_send_that_waits_in_quiet_hours_has_not_begun(service: Service) -> None:
    send = service.bulk(PHONES, quiet_hours=quiet_now("Africa/Nairobi")).json["send_id"]
    assert service.counts(send)["queued"] == 2
    assert change(service, send, message="Ho" * 100).json["cost"] == 4
    assert change(service, send, send_at=ahead(1)).json["status"] == "scheduled"
    service.execute("UPDATE send SET rules = NULL WHERE id = :send", send=send)
    change(service, send, send_at=None)
    assert service.counts(send)["sent"] == 2
    assert service.get("/balance").json["balance"] == 996
    assert audit(service.engine, full=True) == []


def test_a_send_whose_cycle_ends_while_it_is_changed_has_begun(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results are committed while the change waits for its batch."""
    send = service.bulk([str(254755000000 + number) for number in range(30)], rate=1, send_at=ahead(1)).json["send_id"]
    responses: list[TestResponse] = []
    changing = Thread(target=lambda: responses.append(change(service, send, message="Ho")))

    def before_commit(name: str) -> None:
        if name == "settle_rest.before_commit" and changing.ident is None:
            changing.start()
            wait_until_somebody_waits(service.engine)

    monkeypatch.setattr(worker.sending.settle_rest, "crashpoint", before_commit)
    change(service, send, send_at=None)
    join_all(changing)
    assert [(each.status_code, each.json["code"]) for each in responses] == [(409, "state_conflict")]


def test_a_send_that_awaits_its_release_by_the_operator_keeps_its_text(service: Service) -> None:
    send = waiting(service)
    service.transact(hold, UUID(send), "looks like fraud")
    refused = change(service, send, message="Ho")
    assert (refused.status_code, refused.json["code"], refused.json["send_status"]) == (409, "state_conflict", "held")
    assert change(service, send, send_at=ahead(2), expires_at=ahead(3), rate=5).json["message"] == "Hi"
    service.transact(release, UUID(send))
    assert change(service, send, message="Ho").json["message"] == "Ho"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({}, ""),
        ({"on_unicode": "send"}, ""),
        ({"send_at": ahead(91)}, "/send_at"),
        ({"expires_at": ahead(0.5)}, "/expires_at"),
        ({"expires_at": ahead(-1)}, "/expires_at"),
        ({"rate": 0}, "/rate"),
        ({"message": " "}, "/message"),
        ({"sendat": ahead(1)}, "/sendat"),
        ({"expires_at": None}, "/expires_at"),
    ],
)
def test_wrong_changes(service: Service, changes: dict[str, Any], pointer: str) -> None:
    send = waiting(service)
    before = service.get(f"/sends/{send}").json
    response = change(service, send, **changes)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    assert response.json["errors"][0]["pointer"] == pointer
    assert service.get(f"/sends/{send}").json == before
