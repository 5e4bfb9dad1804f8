"""Sender IDs: requested, decided on, suspended, given up."""

import time
from itertools import product
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from api.account_cache import AccountCache
from shared.accounts.administration import Refused, allow_authentication, create_account, lock_account
from shared.accounts.sandbox import ensure_sandbox
from shared.accounts.top_ups import top_up
from shared.audit.check import audit
from shared.carriers.control import prepare
from shared.db.tables.accounts import SKELETON
from shared.senders import similarity
from shared.senders.requests import find_sender_id
from shared.senders.sender_ids import Decision, allow_authentication_from, decide_sender, request_sender
from shared.senders.similarity import likenesses
from shared.sends.holding import release
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.harness.times import ahead


def decide(service: Service, sender: str, state: Decision, reason: str | None = None) -> None:
    service.transact(decide_sender, service.account_id, sender, state, reason)


def new_sender(service: Service) -> str:
    """An approved sender ID that no other account of the tests has."""
    sender = f"NEW{service.account_id}"
    assert service.post("/sender-ids", sender_id=sender).status_code == 200
    decide(service, sender, "approved")
    return sender


def test_it_works(service: Service) -> None:
    requested = service.post("/sender-ids", sender_id="SHOP", use_case="Order confirmations").json
    assert (requested["sender_id"], requested["status"], requested["form"]) == ("SHOP", "pending", "alphanumeric")
    response = service.send(sender_id="SHOP")
    assert (response.status_code, response.json["code"], response.json["sender_status"]) == (
        403,
        "sender_not_approved",
        "pending",
    )
    decide(service, "SHOP", "rejected", "Say whose shop it is.")
    (listed,) = service.get("/sender-ids?status=rejected").json["data"]
    assert (listed["id"], listed["reason"]) == (requested["id"], "Say whose shop it is.")
    again = service.post("/sender-ids", sender_id="SHOP", use_case="Shop of ACME Ltd").json
    assert (again["id"], again["status"], again["reason"]) == (requested["id"], "pending", None)
    assert service.delete(f"/sender-ids/{requested['id']}").json == {"deleted": True}
    assert service.delete(f"/sender-ids/{requested['id']}").json["code"] == "sender_not_found"


@pytest.mark.parametrize("name", ["", "12", "TwelveLetter", "ACMÉ", " ACME", "+254711", "07123456", "a\nb", "x" * 300])
def test_an_invalid_sender_id_is_refused(service: Service, name: str) -> None:
    response = service.post("/sender-ids", sender_id=name)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    assert response.json["errors"][0]["pointer"] == "/sender_id"


def test_suspending_a_sender_id_holds_its_sends_until_it_is_approved_again(service: Service) -> None:
    sender = new_sender(service)
    bulk = service.bulk(["254711000001", "254711000002"], sender_id=sender, send_at=ahead()).json["send_id"]
    paused = service.send(sender_id=sender, send_at=ahead()).json["send_id"]
    service.post(f"/sends/{paused}/pause")
    other = service.send(send_at=ahead()).json["send_id"]
    decide(service, sender, "suspended", "complaints")
    shown = service.get(f"/sends/{bulk}").json
    assert (shown["status"], shown["held_by"]) == ("held", "sender_id")
    assert shown["held_reason"] == f"The sender ID '{sender}' is suspended: complaints"
    assert service.get(f"/sends/{other}").json["status"] == "scheduled"
    assert service.post(f"/sends/{bulk}/resume").status_code == 409
    with pytest.raises(Refused, match="is suspended"), service.engine.begin() as connection:
        release(connection, bulk)  # type: ignore[arg-type]
    service.execute("UPDATE batch SET due_at = now() WHERE send_id = :send", send=bulk)
    service.execute("UPDATE send SET send_at = now() WHERE id = :send", send=bulk)
    service.sweep()
    assert service.counts(bulk)["queued"] == 2
    decide(service, sender, "approved")
    service.sweep()
    assert service.counts(bulk)["sent"] == 2
    assert service.get(f"/sends/{paused}").json["status"] == "paused"
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize("by", ["receipts", "its owner"])
def test_a_canary_does_not_go_on_from_a_suspended_sender_id(service: Service, by: str) -> None:
    """Its send was held already when the sender ID was suspended."""
    sender = new_sender(service)
    phones = [str(254711000000 + number) for number in range(20)]
    send = service.bulk(phones, sender_id=sender, canary=5).json["send_id"]
    service.sweep()
    assert service.get(f"/sends/{send}").json["held_by"] == "canary"
    decide(service, sender, "suspended", "complaints")
    long_ago = "UPDATE sender_id SET decided_at = now() - interval '1 hour' WHERE sender_id = :sender"
    service.execute(long_ago, sender=sender)
    if by == "receipts":
        service.deliver_receipts()
    else:
        assert service.post(f"/sends/{send}/resume").status_code == 200
    service.sweep()
    service.sweep()
    held = service.get(f"/sends/{send}").json
    assert (held["status"], held["held_by"], held["counts"]["queued"]) == ("held", "sender_id", 15)
    assert held["held_reason"] == f"The sender ID '{sender}' is suspended: complaints"
    decide(service, sender, "approved")
    service.sweep()
    assert "queued" not in service.counts(send)
    assert audit(service.engine, full=True) == []


def test_a_rejected_sender_id_that_is_requested_again_sends_nothing_until_it_is_approved(service: Service) -> None:
    sender = new_sender(service)
    phones = [str(254711000000 + number) for number in range(20)]
    send, other = (service.bulk(phones, sender_id=sender, canary=5).json["send_id"] for _ in range(2))
    service.sweep()
    service.post(f"/sends/{other}/pause")
    decide(service, sender, "rejected", "unknown company")
    assert service.post("/sender-ids", sender_id=sender).json["status"] == "pending"
    assert service.post(f"/sends/{send}/resume").status_code == 200
    held = service.get(f"/sends/{send}").json
    assert (held["held_by"], held["held_reason"]) == ("sender_id", f"The sender ID '{sender}' is pending")
    for each in (send, other):
        with pytest.raises(Refused, match="is pending"), service.engine.begin() as connection:
            release(connection, each)
    decide(service, sender, "approved")
    service.sweep()
    assert "queued" not in service.counts(send)
    assert service.get(f"/sends/{other}").json["status"] == "paused"


def test_a_send_accepted_just_after_the_suspension_is_held_too(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr("api.account_cache.time", SimpleNamespace(monotonic=lambda: now))
    sender = new_sender(service)
    service.send(sender_id=sender)
    decide(service, sender, "suspended", "complaints")
    late = service.send(sender_id=sender, send_at=ahead())  # the API still remembers that it was approved
    assert late.status_code == 200
    service.sweep()
    assert service.get(f"/sends/{late.json['send_id']}").json["held_by"] == "sender_id"


def test_a_suspended_one_cannot_be_given_up(service: Service) -> None:
    sender = new_sender(service)
    decide(service, sender, "suspended", "complaints")
    entry = next(entry for entry in service.get("/sender-ids").json["data"] if entry["sender_id"] == sender)
    response = service.delete(f"/sender-ids/{entry['id']}")
    assert (response.status_code, response.json["code"], response.json["sender_status"]) == (
        409,
        "state_conflict",
        "suspended",
    )


def test_authentication_is_a_right_of_the_account_or_of_a_sender_id(service: Service) -> None:
    with service.engine.begin() as connection:
        account = create_account(connection, f"new {service.account_id}")
        for sender in ("OTP", "SHOP"):
            name = f"{sender}{account}"
            request_sender(connection, account, name)
            decide_sender(connection, account, name, "approved")
        top_up(connection, account, 10, "test", "test")
    token, code = service.new_token(account), {"category": "authentication", "message": "Your code is 1234"}

    def refused(sender: str, **to: Any) -> str | None:
        service.flask.extensions["bulksms"].account_cache = AccountCache(service.engine)
        path = "/sms/send-bulk" if "phones" in to else "/sms/send"
        response = service.post(path, token=token, sender_id=f"{sender}{account}", **code, **to)
        return None if response.status_code == 200 else f"{response.status_code} {response.json['code']}"

    one, several = {"phone": "254711000000"}, {"phones": ["254711000000"]}
    assert [refused("OTP", **to) for to in (one, several)] == ["403 category_not_allowed"] * 2
    assert service.get("/balance", token=token).json["balance"] == 10
    service.transact(allow_authentication_from, account, f"OTP{account}", True)
    assert [refused("OTP", **one), refused("SHOP", **one)] == [None, "403 category_not_allowed"]
    service.transact(allow_authentication, account, True)
    assert refused("SHOP", **several) is None
    sandbox = service.post("/api-keys", token=token, test=True).json
    exchanged = service.client.post("/api/v1/auth/token", json={key: sandbox[key] for key in ("api_key", "api_secret")})
    token = exchanged.get_json()["access_token"]
    assert refused("SHOP", **one) is None
    service.transact(allow_authentication, account, False)
    assert [refused("OTP", **one), refused("SHOP", **one)] == [None, "403 category_not_allowed"]


@pytest.mark.parametrize("first", ["the right", "the approval"])
def test_a_sender_id_has_the_right_to_authentication_in_the_sandbox_too(service: Service, first: str) -> None:
    sender = f"BOTH{service.account_id}"
    service.post("/sender-ids", sender_id=sender)
    with service.engine.begin() as connection:
        sandbox = ensure_sandbox(connection, service.account_id)
        if first == "the right":
            allow_authentication_from(connection, service.account_id, sender, True)
        decide_sender(connection, service.account_id, sender, "approved")
        if first == "the approval":
            allow_authentication_from(connection, service.account_id, sender, True)
        statement = "SELECT authentication FROM sender_id WHERE account_id = :sandbox AND sender_id = :sender"
        found = connection.execute(text(statement), {"sandbox": sandbox, "sender": sender})
        assert found.scalar_one() is True


def test_an_approval_reaches_a_sandbox_that_is_being_created(service: Service) -> None:
    sender = f"LATE{service.account_id}"
    assert service.post("/sender-ids", sender_id=sender).status_code == 200
    deciding = Thread(target=lambda: decide(service, sender, "approved"))
    with service.engine.begin() as connection:
        lock_account(connection, service.account_id)
        sandbox = ensure_sandbox(connection, service.account_id)
        deciding.start()
        wait_until_somebody_waits(service.engine)
    join_all(deciding)
    found = service.transact(find_sender_id, sandbox, sender)
    assert found is not None and found["state"] == "approved"


def test_a_test_of_a_carrier_and_a_customer_may_use_the_same_sender_id(service: Service) -> None:
    sender = f"TRY{service.account_id}"
    service.transact(prepare, sender, sender)
    service.post("/sender-ids", sender_id=sender)
    decide(service, sender, "approved")
    service.transact(prepare, sender, f"{sender} again")
    assert service.send(sender_id=sender).status_code == 200
    assert sender not in {name.sender_id for others in service.transact(likenesses).values() for name in others}


def test_only_the_operator_sees_similar_names_of_other_accounts(service: Service) -> None:
    other = service.transact(create_account, f"beta {service.account_id}")
    service.transact(request_sender, other, "BETA")
    requested = service.post("/sender-ids", sender_id="BE TA.").json
    assert "BETA" not in str(requested | service.get("/sender-ids").json)
    found = {
        name.sender_id: [each.sender_id for each in others] for name, others in service.transact(likenesses).items()
    }
    assert found["BE TA."] == ["BETA"] and found["BETA"] == ["BE TA."]


def test_the_database_compares_names_as_the_code_does(service: Service) -> None:
    characters = [chr(code) for code in range(32, 127)]
    names = [*characters, *map("".join, product("rnvVwm0O1lIi", repeat=3)), "rrnn", "vvvv", "rn rn", "v.v"]
    statement = text(f"SELECT sender_id, {SKELETON} FROM unnest(CAST(:names AS text[])) AS names (sender_id)")
    with service.engine.connect() as connection:
        found = dict(tuple(row) for row in connection.execute(statement, {"names": names}))
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        search = text(f"EXPLAIN SELECT 1 FROM sender_id WHERE {SKELETON} = ANY (CAST(:names AS text[]))")
        plan = str(connection.execute(search, {"names": names[:2]}).all())
    assert found == {name: similarity.skeleton(name) for name in names}
    assert "ix_sender_id_skeleton" in plan
