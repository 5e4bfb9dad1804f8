"""What is erased and what is forgotten is nowhere in the database any more; money, counts and opt-outs stay."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from shared.accounts.change_account import change_account
from shared.audit.check import audit
from shared.carriers.unreadable import Unreadable, keep_unreadable
from shared.contacts.groups import delete_group
from shared.contacts.imports import begin_import
from shared.contacts.suppressions import suppress, unsuppress
from shared.inbound import Inbound, store
from tests.harness.service import Service
from tests.integration.jobs.test_usage import count
from worker.jobs import retention
from worker.jobs.erasure import erase_one
from worker.jobs.retention import forget

PERSON, OTHER = "254733123987", "254733123988"
BOTH = (PERSON, OTHER)
SECRET = "Table for Xanthippe"
RECEIPTS = "simulated_receipt"
"""Receipts on their way, which the simulated carrier delivers and then forgets."""
TABLES = text(
    "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1"
)


def where(engine: Engine, *needles: str) -> set[str]:
    """The tables in which any of these texts stands."""
    found = set()
    with engine.connect() as connection:
        for table in set(connection.execute(TABLES).scalars()) - {RECEIPTS}:
            for row in connection.execute(text(f"SELECT CAST(t AS text) FROM {table} AS t")).scalars():
                if any(needle in row for needle in needles):
                    found.add("message" if table.startswith("message_") else table)
    return found


def books(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        accounts = connection.execute(text("SELECT id, available, reserved FROM account ORDER BY id")).all()
        return [*accounts, connection.execute(text("SELECT count(*), sum(amount) FROM ledger")).one()]


def erase(service: Service, phone: str = PERSON) -> dict[str, Any]:
    """Ask for it, and let the worker do it, as if a minute had passed."""
    response = service.post("/erasures", phone=phone)
    assert (response.status_code, response.json["status"]) == (200, "pending"), response.text
    work(service)
    return dict(service.get(f"/erasures/{response.json['erasure_id']}").json)


def work(service: Service) -> None:
    service.execute("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'")
    while erase_one(service.engine):
        pass


def receive(service: Service, phone: str, message: str) -> None:
    number = service.approve(service.account_id, "25420700")
    service.transact(store, "simulator", [Inbound(phone, number, message)])


def test_it_works(alone: Service) -> None:
    alone.send(PERSON, SECRET, reference=f"for {PERSON}", metadata={"name": "Xanthippe"})
    key = {"Idempotency-Key": "k1"}
    recipients = [OTHER, {"phone": PERSON, "reference": "Xanthippe 1"}, "0712", f"+{PERSON}"]
    bulk = alone.bulk(recipients, headers=key).json
    group = alone.new_group([PERSON, OTHER])
    receive(alone, PERSON, SECRET)
    alone.deliver_receipts()
    assert where(alone.engine, PERSON) >= {"message", "batch", "contact", "inbound", "idempotency", "send_rejection"}
    assert "simulated_submit" in where(alone.engine, PERSON)
    before = books(alone.engine)
    counts = alone.counts(bulk["send_id"])
    receipt = erase(alone)
    assert receipt["status"] == "completed"
    assert receipt["completed_at"] > receipt["created_at"]
    assert receipt["counts"] == {"messages": 2, "texts": 1, "contacts": 1, "inbound": 1}
    assert where(alone.engine, PERSON, "Xanthippe") == set()
    assert where(alone.engine, OTHER) >= {"message", "batch", "contact"}
    assert books(alone.engine) == before
    assert alone.counts(bulk["send_id"]) == counts
    phones = [row["phone"] for row in alone.get(f"/sends/{bulk['send_id']}/messages").json["data"]]
    assert phones == [OTHER, None]
    assert alone.get(f"/groups/{group}").json["contact_count"] == 1
    assert alone.bulk(recipients, headers=key).json["send_id"] == bulk["send_id"]
    assert where(alone.engine, PERSON) == set()
    assert audit(alone.engine, full=True) == []


def test_ids_that_a_client_chose_for_its_request_are_erased(alone: Service) -> None:
    alone.send(PERSON)
    values = {"request": PERSON, "traceparent": f"00-{PERSON:0>32}-00f067aa0ba902b7-01"}
    alone.execute("UPDATE send SET request_id = :request, traceparent = :traceparent", **values)
    assert "send" in where(alone.engine, PERSON)
    erase(alone)
    assert where(alone.engine, PERSON) == set()


def test_rejected_recipients_that_have_the_phone_among_other_things_are_erased(alone: Service) -> None:
    """However they are written, and what is kept beside one of them is found when it is to be erased, too."""
    written = ["0733 123-987", f"{PERSON} Ann", f"{PERSON};254722000000", "٠٧٣٣ ١٢٣٩٨٧", "0733 12\u00a039\u201187"]
    beside = "٠٧٣٣ ١٢٣٩٨٨"

    def rejected(number: int) -> list[str | None]:
        recipients = ["254733123989", written[number], beside]
        response = alone.bulk(recipients, headers={"Idempotency-Key": str(number)}).json
        return [each["phone"] for each in response["rejected"]]

    lists = range(len(written))
    assert [rejected(number) for number in lists] == [[each, beside] for each in written]
    assert where(alone.engine, *written) == {"idempotency", "send_rejection"}
    erase(alone)
    assert where(alone.engine, *written) == set()
    assert [rejected(number) for number in lists] == [[None, beside]] * len(written)
    erase(alone, OTHER)
    assert [rejected(number) for number in lists] == [[None, None]] * len(written)
    assert where(alone.engine, beside) == set()


def test_a_message_without_an_id_of_the_carrier_is_erased(alone: Service) -> None:
    """Its receipt is found by its phone."""
    alone.send(PERSON)
    alone.deliver_receipts()
    alone.execute("UPDATE message SET reference = 'to:' || phone")
    erase(alone)
    assert where(alone.engine, PERSON) == set()


def test_the_text_of_a_list_of_one_is_erased_and_the_url_that_is_told(alone: Service) -> None:
    alone.bulk([PERSON], SECRET, metadata={"name": "Xanthippe"})
    alone.execute("UPDATE send SET callback_url = :url", url=f"https://example.com/?to={PERSON}")
    erase(alone)
    assert where(alone.engine, PERSON, SECRET, "Xanthippe") == set()


def test_both_spellings_of_a_subscriber_are_erased(alone: Service) -> None:
    """+52 1 before Mexican mobile numbers until 2019."""
    alone.new_group(["5215555010123", "525555010123"])
    alone.post("/erasures", phone="5215555010123")
    alone.execute("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'")
    while erase_one(alone.engine):
        pass
    assert where(alone.engine, "5215555010123", "525555010123") == set()


def test_what_is_kept_elsewhere_is_erased_too(alone: Service) -> None:
    def spelled(phone: str) -> tuple[str, ...]:
        return phone, f"0{phone[3:6]} {phone[6:]}", phone.encode().hex()

    receive(alone, "254799999999", "Hello")  # to a sender ID of the account
    deleted, imported = alone.new_group([*BOTH]), alone.new_group([])
    file = begin_import(alone.engine, alone.account_id, UUID(imported), None)
    with alone.engine.begin() as connection:
        delete_group(connection, UUID(deleted))
        connection.execute(text("UPDATE contact_import SET state = 'completed'"))
        keep_unreadable(connection, "any", [Unreadable(f"to {phone}".encode(), "malformed") for phone in BOTH])
        for line, phone in enumerate(BOTH):
            values = {"import": file, "line": line, "value": spelled(phone)[1]}
            connection.execute(
                text("INSERT INTO import_error VALUES (:import, :line, :value, 'code', 'detail')"), values
            )
        store(connection, "any", [Inbound(phone, "25420700", "half", 7, 2, 1) for phone in BOTH])
    kept = {"contact", "import_error", "inbound_part", "unreadable_receipt"}
    assert where(alone.engine, *spelled(PERSON)) == kept
    erase(alone)
    assert where(alone.engine, *spelled(PERSON)) == set()
    assert where(alone.engine, *spelled(OTHER)) == kept
    assert alone.scalar("SELECT contact_count FROM contact_group WHERE id = :id", id=deleted) == 1


def test_an_opt_out_of_an_erased_phone_still_holds(alone: Service) -> None:
    alone.transact(suppress, alone.account_id, PERSON, "stop")
    erase(alone)
    assert where(alone.engine, PERSON) == set()
    assert alone.get("/suppressions").json["data"] == []
    assert alone.send(PERSON).json["code"] == "recipient_suppressed"
    assert alone.bulk([OTHER, PERSON]).json["counts"]["suppressed"] == 1
    group = alone.post("/sms/send-group", sender_id="ACME", group_id=alone.new_group([PERSON, OTHER]), message="Hi")
    assert alone.counts(group.json["send_id"])["suppressed"] == 1
    other = alone.new_token(alone.new_account("other"))
    assert alone.post("/sms/send", token=other, sender_id="ACME", phone=PERSON, message="Hi").status_code == 200
    assert alone.transact(unsuppress, alone.account_id, PERSON) == 1
    assert alone.send(PERSON).status_code == 200


def scheduled(service: Service, phones: list[Any], message: str = SECRET, **fields: Any) -> str:
    """A send that is due tomorrow."""
    return str(service.bulk(phones, message, send_at=f"{in_days(1):%Y-%m-%dT%H:%M:%SZ}", **fields).json["send_id"])


def is_due(service: Service) -> None:
    service.execute("UPDATE send SET send_at = now()")
    service.execute("UPDATE batch SET due_at = now() WHERE state = 'waiting'")
    service.sweep()


def test_a_scheduled_message_is_canceled_and_erased_and_the_others_are_sent(alone: Service) -> None:
    phones = [{"phone": each, "variables": {"name": each}} for each in (PERSON, OTHER, PERSON)]
    send = scheduled(alone, phones, "Hi {{name}}", allow_duplicates=True)
    single, paused = scheduled(alone, [PERSON]), scheduled(alone, [OTHER, PERSON])
    alone.post(f"/sends/{paused}/pause")
    assert erase(alone)["counts"] == {"messages": 4, "texts": 1, "contacts": 0, "inbound": 0}
    assert alone.get("/erasures").json["data"][0]["status"] == "completed"
    assert where(alone.engine, PERSON) == set()
    assert alone.get(f"/sends/{single}").json["status"] == "canceled"
    alone.post(f"/sends/{paused}/resume")
    is_due(alone)
    assert alone.submitted() == {OTHER: 2}
    alone.deliver_receipts()
    assert alone.counts(send) == {"submitted": 3, "accepted": 3, "canceled": 2, "delivered": 1}
    assert audit(alone.engine, full=True) == []


def test_a_message_of_a_batch_that_a_worker_has_begun_is_erased_when_it_ends(alone: Service) -> None:
    """Nothing is sent to the phone meanwhile."""
    send = scheduled(alone, [PERSON, OTHER])
    alone.execute("UPDATE batch SET epoch = 1")
    assert erase(alone)["status"] == "pending"
    is_due(alone)
    assert alone.submitted() == {OTHER: 1}
    alone.deliver_receipts()
    work(alone)
    assert alone.get("/erasures").json["data"][0]["status"] == "completed"
    assert alone.counts(send) == {"submitted": 2, "accepted": 2, "rejected": 1, "delivered": 1}
    assert where(alone.engine, PERSON) == set()
    assert audit(alone.engine, full=True) == []


def test_another_accounts_data_of_the_same_person_stays(alone: Service) -> None:
    other = alone.new_token(alone.new_account("other"))
    sent = alone.post("/sms/send", token=other, sender_id="ACME", phone=PERSON, message=SECRET).json
    erase(alone)
    assert alone.get(f"/messages/{sent['message_id']}", token=other).json["phone"] == PERSON
    mine = alone.get("/erasures").json["data"][0]["erasure_id"]
    assert alone.get(f"/erasures/{mine}", token=other).json["code"] == "erasure_not_found"
    assert alone.get("/erasures", token=other).json["data"] == []


def in_days(days: int) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def of_days(service: Service) -> Any:
    return sorted(json.dumps(row) for row in service.get("/usage").json["data"])


def weeks(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return {name for name in connection.execute(TABLES).scalars() if name.startswith("message_2")}


def with_days(service: Service, account: int, days: int | None) -> None:
    service.transact(change_account, account, {"retention_days": days})


@pytest.mark.parametrize("messages", [20_000, 1], ids=["in one transaction", "in many"])
@pytest.mark.parametrize("own", [True, False], ids=["of the account", "of the installation"])
def test_texts_and_phones_are_forgotten_after_the_set_number_of_days(
    alone: Service, own: bool, messages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PAGE_MESSAGES", messages)
    privacy_jobs = alone.new_account("keeper")
    token = alone.new_token(privacy_jobs)
    alone.post("/sms/send", token=token, sender_id="ACME", phone=OTHER, message="Still needed")
    recipients = [{"phone": PERSON, "reference": SECRET}, "0712", "99901000001"]
    bulk = alone.bulk(recipients, SECRET).json["send_id"]
    alone.send(PERSON, SECRET)
    canceled = alone.bulk([PERSON], SECRET, send_at=f"{in_days(1):%Y-%m-%dT%H:%M:%SZ}").json["send_id"]
    alone.post(f"/sends/{canceled}/cancel")
    alone.deliver_receipts()
    count(alone)
    alone.execute("DELETE FROM idempotency")
    before, used, counts = books(alone.engine), of_days(alone), alone.counts(bulk)
    days = 0 if own else 30
    with_days(alone, *((alone.account_id, 30) if own else (privacy_jobs, 90)))
    assert forget(alone.engine, days) == 0
    assert forget(alone.engine, days, in_days(40)) == 3
    assert where(alone.engine, PERSON, SECRET) == set()
    assert where(alone.engine, OTHER) == {"batch", "message", "simulated_submit"}
    assert (books(alone.engine), of_days(alone), alone.counts(bulk)) == (before, used, counts)
    count(alone)
    assert of_days(alone) == used
    assert forget(alone.engine, days, in_days(40)) == 0
    assert alone.get(f"/sends/{bulk}/messages").json["data"] == alone.get("/messages").json["data"] == []
    assert [row["phone"] for row in alone.get("/messages", token=token).json["data"]] == [OTHER]
    assert audit(alone.engine, full=True) == []


def test_what_may_name_a_person_is_forgotten_with_the_send(alone: Service) -> None:
    alone.send(PERSON, reference=SECRET)
    alone.bulk([PERSON], reference=SECRET)
    alone.bulk([PERSON, OTHER], reference="Campaign")
    alone.execute("UPDATE send SET request_id = :phone, traceparent = :phone", phone=PERSON)
    alone.deliver_receipts()
    assert forget(alone.engine, 30, in_days(40)) == 3
    assert where(alone.engine, PERSON, SECRET) == set()
    assert where(alone.engine, "Campaign") == {"send"}


def test_a_week_is_dropped_whole_when_nobody_keeps_anything_of_it(alone: Service) -> None:
    privacy_jobs = alone.new_account("keeper")
    alone.post(
        "/sms/send",
        token=alone.new_token(privacy_jobs),
        sender_id="ACME",
        phone=OTHER,
        message=SECRET,
        reference="kept",
    )
    alone.bulk([PERSON, OTHER], SECRET)
    alone.deliver_receipts()
    today = datetime.now(UTC)
    week = f"message_{today - timedelta(days=today.weekday()):%Y%m%d}"
    with_days(alone, privacy_jobs, 90)
    forget(alone.engine, 30, in_days(60))
    assert week in weeks(alone.engine)
    assert where(alone.engine, PERSON) == set()
    with_days(alone, privacy_jobs, None)
    forget(alone.engine, 30, in_days(60))
    assert week not in weeks(alone.engine)
    assert where(alone.engine, OTHER) == set()
    assert audit(alone.engine, full=True) == []


def test_the_audit_finds_data_that_should_have_been_forgotten(alone: Service) -> None:
    alone.bulk([PERSON, OTHER], SECRET)
    alone.deliver_receipts()
    forget(alone.engine, 30, in_days(60))
    assert audit(alone.engine, full=True) == []
    alone.execute("UPDATE batch SET recipients = '254711000000\n254711000001'")
    assert {breach.rule for breach in audit(alone.engine, full=True)} == {"forgotten"}


def test_an_open_send_is_kept_and_does_not_hold_up_the_others(alone: Service) -> None:
    alone.send(PERSON, SECRET, send_at=f"{in_days(80):%Y-%m-%dT%H:%M:%SZ}")
    alone.send(OTHER)
    alone.deliver_receipts()
    assert forget(alone.engine, 30, in_days(60)) == 1
    assert "send" in where(alone.engine, SECRET)
    assert where(alone.engine, OTHER) == set()


def test_a_send_that_waits_for_receipts_is_kept_for_four_days(alone: Service) -> None:
    alone.send(PERSON)
    alone.deliver_receipts()
    alone.send(OTHER)
    assert forget(alone.engine, 1, in_days(2)) == 1
    assert "message" in where(alone.engine, OTHER)
    assert forget(alone.engine, 1, in_days(5)) == 1
    assert where(alone.engine, OTHER) == set()


def test_without_a_setting_everything_is_kept(alone: Service) -> None:
    alone.send(PERSON, SECRET)
    assert forget(alone.engine, 0, in_days(3000)) == 0
    assert "send" in where(alone.engine, SECRET)
