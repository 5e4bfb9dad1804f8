"""An erasure holds up nobody, and finds in other places only what is the account's."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from shared.carriers.unreadable import Unreadable, keep_unreadable
from shared.inbound import Inbound, store
from tests.harness.service import Service
from tests.integration.privacy.test_privacy import OTHER, PERSON, erase, receive, where
from worker.jobs import erasure
from worker.jobs.erasure import erase_one
from worker.jobs.erasure_search import SearchResult, search


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
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'"))
    return str(erasure_id)


def erased_batches(service: Service) -> int:
    with service.engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM batch WHERE recipients = '0'")).scalar_one())


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
    with alone.engine.connect() as connection:
        stored = connection.execute(text("SELECT entries FROM send_rejection")).scalar_one()
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
    with alone.engine.begin() as connection:
        keep_unreadable(connection, "any", [Unreadable(octets, "malformed") for octets in kept + gone])
    erase(alone, phone)
    assert unreadable(alone) == kept


@pytest.mark.parametrize("plus", ["", "+"])
def test_parts_are_erased_as_carriers_write_the_numbers(alone: Service, plus: str) -> None:
    receive(alone, OTHER, "Hello")  # to a sender ID of the account
    with alone.engine.begin() as connection:
        store(connection, "any", [Inbound(plus + PERSON, f"{plus}25420700", "half", 7, 2, 1)])
    assert erase(alone)["status"] == "completed"
    assert where(alone.engine, PERSON) == set()


def test_a_sandbox_erases_nothing_of_the_installation(alone: Service) -> None:
    sandbox = alone.in_sandbox()
    receive(alone, OTHER, "Hello")
    with alone.engine.begin() as connection:
        keep_unreadable(connection, "any", [Unreadable(PERSON.encode(), "malformed")])
        store(connection, "any", [Inbound(PERSON, "25420700", "half", 7, 2, 1)])
        connection.execute(
            text("INSERT INTO sender_id (account_id, sender_id, state) VALUES (:account, '25420700', 'approved')"),
            {"account": sandbox.account_id},
        )
    assert erase(sandbox)["status"] == "completed"
    assert unreadable(alone) == [PERSON.encode()]
    assert where(alone.engine, PERSON) == {"inbound_part"}


def test_an_account_that_only_requested_a_sender_id_erases_nothing_of_its_owner(alone: Service) -> None:
    receive(alone, OTHER, "Hello")
    other = alone.new_account("other")
    with alone.engine.begin() as connection:
        store(connection, "any", [Inbound(PERSON, "25420700", "half", 7, 2, 1)])
        connection.execute(
            text("INSERT INTO sender_id (account_id, sender_id, state) VALUES (:account, '25420700', 'pending')"),
            {"account": other},
        )
    asked = alone.post("/erasures", token=alone.new_token(other), phone=PERSON)
    assert asked.status_code == 200
    with alone.engine.begin() as connection:
        connection.execute(text("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'"))
    while erase_one(alone.engine):
        pass
    assert where(alone.engine, PERSON) == {"inbound_part"}
