"""An erasure holds up nobody, and finds in other places only what is the account's."""

import json
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

import worker.sending.settle_rest
from api.http.pagination import to_cursor
from shared.carriers.receipts import Receipt
from shared.carriers.unreadable import Unreadable, keep_unreadable
from shared.events.stream import read_events
from shared.inbound import Inbound, store
from shared.lifecycle import MessageStatus
from tests.harness.database import wait_until_somebody_waits
from tests.harness.deliveries import wait_for_others
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.integration.privacy.test_privacy import OTHER, PERSON, erase, receive, where, work
from tests.integration.receipts.test_receipts import CARRIER, end, under_way
from worker.jobs import erasure
from worker.jobs.erasure import erase_one
from worker.jobs.erasure_search import SearchResult, search
from worker.jobs.retention import forget
from worker.receipts.match import record


def test_a_phone_in_many_batches_is_erased_in_several_transactions(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker dies after they are erased: what it has counted is kept."""
    monkeypatch.setattr(erasure, "BATCHES_PER_COMMIT", 1)
    for _ in range(3):
        alone.send(PERSON, allow_duplicates=True)
    alone.deliver_receipts()
    erasure_id = requested(alone)
    with monkeypatch.context() as patched:
        patched.setattr(erasure, "_erase_elsewhere", dies)
        with pytest.raises(KeyboardInterrupt):
            erase_one(alone.engine)
    assert erased_batches(alone) == 3
    assert erase_one(alone.engine) is not None
    response = alone.get(f"/erasures/{erasure_id}").json
    assert (response["status"], response["counts"]["messages"]) == ("completed", 3)
    assert where(alone.engine, PERSON) == set()


def dies(*_: object) -> None:
    raise KeyboardInterrupt


def requested(service: Service) -> str:
    """Request the erasure of the person, which is due at once. Returns its id."""
    erasure_id = service.post("/erasures", phone=PERSON).json["erasure_id"]
    service.execute("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'")
    return str(erasure_id)


def test_urls_of_deliveries_are_erased_with_those_of_their_sends(alone: Service) -> None:
    urls = [f"https://example.com/?to={phone}" for phone in (PERSON, OTHER)]
    for phone, url in zip((PERSON, OTHER), urls, strict=True):
        alone.send(phone, callback_url=url)
    alone.deliver_receipts()
    alone.execute(
        """
        INSERT INTO delivery (webhook_id, event_id, type, state, attempts, url)
        SELECT w.id, e.id, e.type, 'delivered', 1, s.callback_url
          FROM webhook w, event e JOIN send s ON s.id = e.send_id
        """
    )
    assert where(alone.engine, *urls) == {"send", "delivery"}
    erase(alone)
    assert where(alone.engine, urls[0]) == set()
    assert where(alone.engine, urls[1]) == {"send", "delivery"}


def test_a_reader_goes_on_from_an_event_that_was_erased(alone: Service) -> None:
    alone.get("/events")
    receive(alone, OTHER, "Hello")
    receive(alone, PERSON, "STOP")
    wait_for_others(alone.engine)
    kept, *gone = [each["event_id"] for each in alone.get("/events").json["data"]]
    erase(alone)
    assert [each["event_id"] for each in alone.get("/events").json["data"]] == [kept]
    assert alone.transact(read_events, alone.account_id, [UUID(event) for event in gone]) == []
    for start in (f"after={gone[-1]}", f"cursor={to_cursor(gone[-1])}"):
        page = alone.get(f"/events?{start}")
        assert (page.status_code, page.json.get("data")) == (200, []), page.text


def erased_batches(service: Service) -> int:
    return int(service.scalar("SELECT count(*) FROM batch WHERE recipients = '0'"))


def test_an_erasure_that_another_worker_has_taken_meanwhile_is_left_to_it(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.send(PERSON)
    alone.deliver_receipts()
    erasure_id = requested(alone)
    with alone.engine.begin() as connection:

        def and_is_taken(*arguments: Any) -> SearchResult | None:
            found = search(*arguments)
            connection.execute(text("SELECT 1 FROM erasure WHERE id = :id FOR UPDATE"), {"id": erasure_id})
            return found

        monkeypatch.setattr(erasure, "search", and_is_taken)
        assert str(erase_one(alone.engine)) == erasure_id
    assert alone.get(f"/erasures/{erasure_id}").json["status"] == "pending"
    assert erased_batches(alone) == 0


def test_rejected_recipients_are_stored_as_far_as_they_are_listed(alone: Service) -> None:
    answer = alone.bulk([OTHER, *["0712"] * 1001]).json
    assert (answer["counts"]["invalid"], answer["rejected_truncated"]) == (1001, True)
    stored = alone.scalar("SELECT entries FROM send_rejection")
    assert stored == answer["rejected"]
    assert len(json.dumps(stored)) < 1_000_000


def unreadable(service: Service) -> list[bytes]:
    with service.engine.connect() as connection:
        rows = connection.execute(text("SELECT octets FROM unreadable_receipt ORDER BY id")).scalars()
        return [bytes(octets) for octets in rows]


def test_unreadable_receipts_are_erased_by_whole_numbers(alone: Service) -> None:
    phone = PERSON[:8]
    kept = [f"id:1{phone} done".encode(), f"id:{phone}1".encode(), f"{PERSON} \0".encode()]
    gone = [f"to +{phone}.\xff\0".encode("latin-1"), f"00{phone}".encode(), phone.encode()]
    alone.transact(keep_unreadable, "any", [Unreadable(octets, "malformed") for octets in kept + gone])
    erase(alone, phone)
    assert unreadable(alone) == kept


@pytest.mark.parametrize("plus", ["", "+"])
def test_parts_are_erased_as_carriers_write_the_numbers(alone: Service, plus: str) -> None:
    receive(alone, OTHER, "Hello")  # to a sender ID of the account
    alone.transact(store, "any", [Inbound(plus + PERSON, f"{plus}25420700", "half", 7, 2, 1)])
    assert erase(alone)["status"] == "completed"
    assert where(alone.engine, PERSON) == set()


def test_a_sandbox_erases_nothing_of_the_installation(alone: Service) -> None:
    sandbox = alone.in_sandbox()
    receive(alone, OTHER, "Hello")
    alone.transact(keep_unreadable, "any", [Unreadable(PERSON.encode(), "malformed")])
    alone.transact(store, "any", [Inbound(PERSON, "25420700", "half", 7, 2, 1)])
    alone.approve(sandbox.account_id, "25420700")
    assert erase(sandbox)["status"] == "completed"
    assert unreadable(alone) == [PERSON.encode()]
    assert where(alone.engine, PERSON) == {"inbound_part"}


def test_an_account_that_only_requested_a_sender_id_erases_nothing_of_its_owner(alone: Service) -> None:
    receive(alone, OTHER, "Hello")
    other = alone.new_account("other")
    alone.transact(store, "any", [Inbound(PERSON, "25420700", "half", 7, 2, 1)])
    alone.execute(
        "INSERT INTO sender_id (account_id, sender_id, state) VALUES (:account, '25420700', 'pending')", account=other
    )
    asked = alone.post("/erasures", token=alone.new_token(other), phone=PERSON)
    assert asked.status_code == 200
    alone.execute("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'")
    while erase_one(alone.engine):
        pass
    assert where(alone.engine, PERSON) == {"inbound_part"}


def test_a_message_that_becomes_in_doubt_is_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its doubt holds the phone, and is resolved by a receipt for it."""
    batch = under_way(service, PERSON)
    erasure = service.post("/erasures", phone=PERSON).json["erasure_id"]
    erasing = Thread(target=lambda: work(service))

    def before_commit(name: str) -> None:
        if name == "settle_rest.before_commit":
            erasing.start()
            wait_until_somebody_waits(service.engine)

    monkeypatch.setattr(worker.sending.settle_rest, "crashpoint", before_commit)
    end(service, batch, MessageStatus.IN_DOUBT)
    join_all(erasing)
    assert service.get(f"/erasures/{erasure}").json["status"] == "pending"
    record(service.engine, CARRIER, [Receipt("r9", MessageStatus.DELIVERED, None, datetime.now(UTC), PERSON)])
    service.sweep()
    assert service.counts(str(batch.send_id))["delivered"] == 1
    work(service)
    assert service.get(f"/erasures/{erasure}").json["status"] == "completed"
    assert where(service.engine, PERSON) <= {"erasure"}


def test_retention_waits_for_an_erasure_in_the_same_send(alone: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    alone.bulk([PERSON, OTHER])
    alone.deliver_receipts()
    asked = alone.post("/erasures", phone=PERSON).json["erasure_id"]
    forgotten: list[int] = []
    forgetting = Thread(
        target=lambda: forgotten.append(forget(alone.engine, 30, datetime.now(UTC) + timedelta(days=40)))
    )
    rewrite = erasure._rewrite

    def rewrite_then_meet(*of_batch: Any) -> list[UUID]:
        messages = rewrite(*of_batch)
        forgetting.start()
        wait_until_somebody_waits(alone.engine)
        return messages

    monkeypatch.setattr(erasure, "_rewrite", rewrite_then_meet)
    work(alone)
    join_all(forgetting)
    assert alone.execute("SELECT * FROM job_failure") == []
    assert forgotten == [1]
    assert alone.get(f"/erasures/{asked}").json["status"] == "completed"
    assert where(alone.engine, PERSON) <= {"idempotency"}
