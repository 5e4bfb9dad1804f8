"""How many messages an account may send to a phone within an hour."""

import time
from typing import Any

import fakeredis
import pytest
from sqlalchemy import Engine

from shared.accounts.limits import set_limits
from shared.audit.check import audit
from shared.sends.recipient_counts import RecipientSharing
from tests.harness.service import SECRET_KEY, Service

PHONE, OTHER = "254711000000", "254711000001"


@pytest.fixture
def service(engine: Engine) -> Service:
    """A service where a phone gets two messages an hour, of one-time passwords three."""
    return Service(engine, recipient_limits=(3, 2, 2))


def limit(service: Service, **limits: Any) -> None:
    service.transact(set_limits, service.account_id, **limits)
    service.reload_limits()


def test_it_works(service: Service) -> None:
    responses = [service.send(PHONE) for _ in range(4)]
    assert [response.status_code for response in responses] == [200, 200, 429, 429]
    over = responses[-1]
    assert (over.json["code"], over.json["retryable"]) == ("recipient_limit", True)
    assert 0 < int(over.headers["Retry-After"]) <= 7200
    assert service.get("/balance").json["balance"] == 998
    assert service.send(OTHER).status_code == service.send(PHONE, category="authentication").status_code == 200
    stranger = service.new_token(service.new_account("stranger"))
    body = {"sender_id": "ACME", "phone": PHONE, "message": "Hi"}
    assert service.post("/sms/send", token=stranger, **body).status_code == 200
    assert service.in_sandbox().send(PHONE).status_code == 200
    assert service.get("/limits").json["messages_per_phone_hour"] == {
        "authentication": 3,
        "transactional": 2,
        "marketing": 2,
    }


def test_a_list_names_the_phones_that_are_over_the_limit(service: Service) -> None:
    service.send(PHONE)
    sent = service.bulk([PHONE, OTHER, PHONE, "254711000002", PHONE], allow_duplicates=True).json
    assert sent["counts"] == {"submitted": 5, "accepted": 3, "duplicate": 0, "invalid": 0, "suppressed": 2}
    assert [(entry["index"], entry["code"]) for entry in sent["rejected"]] == [
        (2, "recipient_limit"),
        (4, "recipient_limit"),
    ]
    assert sent["cost"] == 3
    assert service.bulk([PHONE]).json["code"] == "no_valid_recipients"
    strict = service.bulk([PHONE, "254711000003"], strict=True).json
    assert [(error["pointer"], error["code"]) for error in strict["errors"]] == [("/phones/0", "recipient_limit")]
    assert audit(service.engine, full=True) == []


def test_thousands_to_one_phone_are_not_taken(service: Service) -> None:
    sent = service.bulk([PHONE] * 5000, allow_duplicates=True).json
    assert sent["counts"]["accepted"] == 2
    quoted = service.post("/sms/quote", sender_id="ACME", phones=[OTHER] * 9, message="Hi", allow_duplicates=True).json
    assert (quoted["counts"]["accepted"], quoted["cost"]) == (2, 2)
    assert service.send(OTHER).status_code == 200, "a quote counts nothing"


def test_contacts_over_the_limit_drop_out_of_a_group(service: Service) -> None:
    group = service.new_group([PHONE, OTHER])
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi"}
    sends = [service.post("/sms/send-group", **body).json["send_id"] for _ in range(3)]
    service.sweep()
    service.deliver_receipts()
    counts = [service.counts(send) for send in sends]
    assert [each.get("delivered") for each in counts] == [2, 2, None]
    assert counts[2] == {"submitted": 2, "suppressed": 2}
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 996, "reserved": 0}
    assert audit(service.engine, full=True) == []


def test_processes_share_their_counts(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    api = service.flask.extensions["bulksms"].recipients
    redis, worker = fakeredis.FakeRedis(), service.worker.sweeper.work.recipients.counts
    now = time.time()
    for counts in (api, worker):
        monkeypatch.setattr(counts, "_clock", lambda: now)  # what was counted is not shared after the end of its hour
    for _ in range(3):
        service.send(PHONE, category="authentication")
    worker.add(service.account_id, 0, [PHONE] * 3, 3)
    for counts in (api, worker, api):
        RecipientSharing(redis, counts, SECRET_KEY).share()
    assert worker.over(service.account_id, 0, [PHONE], 6) == {0}


@pytest.mark.usefixtures("nothing_is_remembered")
def test_an_operator_sets_the_limit_of_an_account(service: Service) -> None:
    limit(service, recipient_transactional=5)
    assert [service.send(PHONE).status_code for _ in range(6)] == [200] * 5 + [429]
    limit(service, recipient_transactional=0)
    assert {service.send(PHONE).status_code for _ in range(9)} == {200}
    assert service.get("/limits").json["messages_per_phone_hour"]["transactional"] is None
    limit(service, recipient_transactional=None)
    assert service.send(PHONE).status_code == 429
