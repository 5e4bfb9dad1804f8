"""Usage is what became of the messages, whatever happened meanwhile and whenever it was counted."""

import csv
import io
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

import shared.ids
from bulksms.local.postgres import Postgres
from shared.audit.check import audit
from shared.sms.countries import PREFIX_DIGITS, country_of
from tests.harness.database import dispose, fresh_database, wait_until_somebody_waits
from tests.harness.pages import every
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.harness.times import leave_end_of
from worker.jobs.retention import keep_usage
from worker.jobs.usage import COUNTED, Counts, Key, count_one, replace_counts

KE, US, DE = "254711000000", "12125550123", "491701234567"
ALL = "by=day,sender_id,country,category,status"
DUE = text("UPDATE usage_hour SET due_at = now() WHERE NOT final")


def count(service: Service) -> None:
    """Let the counter look at every hour that is not final."""
    service.execute(DUE)
    while count_one(service.engine):
        pass


def usage(service: Service, query: str = ALL) -> list[dict[str, Any]]:
    response = service.get(f"/usage?{query}")
    assert response.status_code == 200, response.text
    return list(response.json["data"])


def of_messages(service: Service) -> Counter[tuple[Any, ...]]:
    """The same counts made of the list of all messages."""
    made: Counter[tuple[Any, ...]] = Counter()
    for message in every(service.get, "/messages?limit=1000"):
        if not message["test"] and message["status"] not in ("scheduled", "queued", "sending"):
            row = message["submitted_at"] or message["error"]["code"] not in ("canceled", "expired")
            country = country_of(message["phone"][:PREFIX_DIGITS]) if row else None
            made[message["created_at"][:10], message["sender_id"], country, message["status"]] += 1
    return made


def of_usage(service: Service) -> Counter[tuple[Any, ...]]:
    made: Counter[tuple[Any, ...]] = Counter()
    for row in usage(service):
        made[row["day"], row["sender_id"], row["country"], row["status"]] += row["messages"]
    return made


def test_it_works(service: Service) -> None:
    leave_end_of("day")
    service.send(KE)
    service.bulk([KE, US, DE, "99902000001"], message="x" * 161, category="marketing")
    service.deliver_receipts()
    count(service)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    one = {"day": today, "sender_id": "ACME", "category": "transactional", "status": "delivered"}
    assert {**one, "country": "KE", "messages": 1, "credits": 1} in usage(service)
    assert usage(service, "by=category,status&category=marketing&status=delivered") == [
        {
            "day": None,
            "sender_id": None,
            "country": None,
            "category": "marketing",
            "status": "delivered",
            "messages": 3,
            "credits": 6,
        }
    ]
    assert of_usage(service) == of_messages(service)


def test_every_outcome_is_counted_once_however_often_it_is_looked_at(service: Service) -> None:
    service.bulk([f"999{outcome:02}00000{n}" for outcome in range(1, 11) for n in range(3)])
    service.send(US, send_at=f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}")
    count(service)
    assert of_usage(service) == of_messages(service)
    service.sweep()
    service.deliver_receipts()
    count(service)
    count(service)
    assert of_usage(service) == of_messages(service)
    assert sum(of_usage(service).values()) > 20
    assert audit(service.engine, full=True) == []


def test_sandboxes_and_other_accounts_are_not_counted(service: Service) -> None:
    sandbox = service.in_sandbox()
    sandbox.send(KE)
    service.post(
        "/sms/send", token=service.new_token(service.new_account("other")), sender_id="ACME", phone=KE, message="Hi"
    )
    count(service)
    assert usage(service) == []
    assert [row["messages"] for row in usage(sandbox)] == [1]


def test_an_hour_that_is_over_is_final_and_proved_by_the_audit(
    postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(fresh_database(postgres_server))
    monkeypatch.setattr("worker.jobs.usage.FINAL_AFTER", timedelta(hours=-1))
    service.bulk([KE, US])
    service.deliver_receipts()
    is_final = text("SELECT bool_and(final) FROM usage_hour")
    for after, expected in ((timedelta(days=3), False), (timedelta(days=-4), True)):  # of the end of their validity
        monkeypatch.setattr("worker.jobs.usage.RECEIPTS_AFTER", after)
        count(service)
        assert service.scalar(is_final) is expected
    assert audit(service.engine, full=True) == []
    service.execute("UPDATE usage SET messages = messages + 1 WHERE country = 'KE'")
    assert {breach.rule for breach in audit(service.engine, full=True)} == {"usage"}
    service.execute("UPDATE usage SET messages = messages - 1, credits = credits + 1 WHERE country = 'KE'")
    assert {breach.rule for breach in audit(service.engine, full=True)} == {"usage"}
    dispose(service.engine)


def test_messages_of_an_old_hour_are_counted_soon_after_they_are_sent(
    postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(fresh_database(postgres_server))
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    with monkeypatch.context() as accepted:
        accepted.setattr(shared.ids, "time", SimpleNamespace(time_ns=lambda: time.time_ns() - 20 * 86_400 * 10**9))
        send = service.bulk([KE, US], send_at=soon).json["send_id"]
    since = f"{datetime.now(UTC) - timedelta(days=21):%Y-%m-%d}"
    hours = """
        INSERT INTO usage_hour (began_at, due_at)
        SELECT date_trunc('hour', at), at
          FROM unnest(ARRAY[now(), now() - interval '20 days', now() - interval '20 days 1 hour']) AS at
    """
    a_day = text("UPDATE usage_hour SET due_at = due_at - interval '1 day', counted_at = counted_at - interval '1 day'")

    def statuses_a_day_later() -> dict[str, int]:
        while count_one(service.engine):
            pass
        service.execute(a_day)
        while count_one(service.engine):
            pass
        return {row["status"]: row["messages"] for row in usage(service, f"by=status&since={since}")}

    service.execute(hours)
    assert statuses_a_day_later() == {}
    service.patch(f"/sends/{send}", send_at=None)
    service.sweep()
    assert statuses_a_day_later() == {"sent": 2}
    service.deliver_receipts()
    assert statuses_a_day_later() == {"delivered": 2}
    assert audit(service.engine, full=True) == []
    dispose(service.engine)


def test_pages_and_csv_have_the_same_counts(service: Service) -> None:
    service.bulk([KE, US, DE])
    service.bulk([KE, "99901000001"], category="authentication")
    service.deliver_receipts()
    count(service)
    whole = usage(service)
    assert every(service.get, "/usage?limit=1") == whole
    lines = list(csv.DictReader(io.StringIO(service.get("/usage", headers={"Accept": "text/csv"}).text)))
    assert [{name: value or None for name, value in line.items()} for line in lines] == [
        {name: None if value is None else str(value) for name, value in row.items()} for row in whole
    ]


@pytest.mark.parametrize(
    "query",
    ["by=hour", "by=", "since=2026-02-30", "since=yesterday", "until=9999-12-31", "country=Kenya", "status=queued2"],
)
def test_a_query_that_cannot_be_counted_is_refused(service: Service, query: str) -> None:
    response = service.get(f"/usage?{query}")
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")


@pytest.mark.parametrize(
    ("phone", "country"),
    [
        (KE, "KE"),
        (US, "US"),
        ("14165550123", "CA"),
        (DE, "DE"),
        ("77011234567", "KZ"),
        ("79161234567", "RU"),
        ("447797123456", "GB"),
        ("99901000001", None),
        ("870773111111", None),
    ],
)
def test_the_first_digits_of_a_phone_give_its_country(phone: str, country: str | None) -> None:
    assert country_of(phone[:PREFIX_DIGITS]) == country


HOUR = datetime(2026, 11, 1, 10, tzinfo=UTC)
NEW_HOUR = text("INSERT INTO usage_hour (began_at, due_at) VALUES (:hour, now())")
COUNTS = text("SELECT kept, messages FROM usage WHERE began_at = :hour AND messages > 0")


def test_counts_that_are_moved_while_the_hour_becomes_final(service: Service) -> None:
    counts = Counts({Key(service.account_id, "ACME", 1, "TZ", "sent"): (5, 5)}, {})
    last_count = {"hour": HOUR, "sums": [5], "is_final": True, "rest": timedelta(seconds=10)}
    service.execute(NEW_HOUR, hour=HOUR)
    service.transact(replace_counts, HOUR, counts)

    def move() -> None:
        service.transact(keep_usage, HOUR, counts)

    moving = Thread(target=move)
    counting = service.engine.connect().execution_options(isolation_level="REPEATABLE READ")
    with counting as connection, connection.begin():
        connection.execute(COUNTED, last_count)
        replace_counts(connection, HOUR, counts)
        moving.start()
        wait_until_somebody_waits(service.engine)
    join_all(moving)
    assert [tuple(row) for row in service.execute(COUNTS, hour=HOUR)] == [(True, 5)]
