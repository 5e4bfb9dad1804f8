"""A statement is what the ledger has of a month, however and whenever it is made."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, text

import shared.statements
from shared.accounts.administration import create_account
from shared.accounts.refunds import refund_message
from shared.accounts.top_ups import reverse_top_up, top_up
from shared.ids import message_id, new_batch_id, new_id
from shared.ledger.ledger import BOOKS, Entry, Kind, post
from shared.statements import KINDS, Statement, read_statement, read_statements
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.jobs.retention import forget
from worker.jobs.statements import count_statements

NUMBERS = count(1)
JANUARY, MAY = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
MONTHS = [date(2026, month, 1) for month in (1, 2, 3, 4)]
SENDERS = ("ACME", "SHOP")
PRICES = ((3, None), (7, 2))
"""Of a send, and of its batch if texts differ."""
BEGIN = text("UPDATE account SET created_at = :at WHERE id = :account")
POST = text(
    """
    INSERT INTO ledger (account_id, kind, debit, credit, amount, subject_type, subject, step, created_at)
    VALUES (:account, :kind, :debit, :credit, :amount, :subject_type, :subject, :step, :at)
    """
)
SEND = text(
    """
    INSERT INTO send (id, account_id, api_key_id, kind, state, test, sender_id, message, encoding, characters, segments,
                      price, lane, expires_at, created_at, accepted)
    VALUES (:id, :account, 'key', 'bulk', 'completed', false, :sender_id, 'Hi', 'gsm7', 2, :segments, :segments, :lane,
            now(), now(), 10)
    """
)
BATCH = text(
    """
    INSERT INTO batch (id, send_id, account_id, lane, state, turn, size, next_index, segments, price, recipients,
                       variables)
    VALUES (:id, :send, :account, :lane, 'done', 0, 10, 11, CAST(:segments AS int), :segments, '254711000000',
            CASE WHEN CAST(:segments AS int) IS NOT NULL THEN '[]'::jsonb END)
    """
)
FORGET = (
    text("UPDATE send SET message = '', metadata = NULL, forgotten_at = now() WHERE account_id = :account"),
    text("UPDATE batch SET recipients = '' WHERE account_id = :account"),
)


class Posting(NamedTuple):
    """What is posted for one of the batches: so many messages, at a time in seconds after the beginning of January."""

    kind: Kind
    batch: int
    messages: int
    second: int
    of_message: bool


POSTINGS = st.lists(
    st.builds(
        Posting,
        st.sampled_from(["topup", "reversal", "capture", "refund", "reserve", "release"]),
        st.integers(0, 3),
        st.integers(1, 5),
        st.integers(0, int((MAY - JANUARY).total_seconds()) - 1),
        st.booleans(),
    ),
    max_size=30,
)
HORIZONS = st.lists(st.integers(0, 150 * 24), max_size=4)
"""Hours after the beginning of January at which a worker counts."""


def new_account(engine: Engine, begins: datetime) -> tuple[int, list[tuple[UUID, str, int, int]]]:
    """An account with a batch for each sender ID and price: its id, sender ID, lane and price."""
    batches = []
    with engine.begin() as connection:
        account = create_account(connection, f"account {next(NUMBERS)}")
        connection.execute(BEGIN, {"account": account, "at": begins})
        for lane, sender_id in enumerate(SENDERS, 1):
            for most, own in PRICES:
                send, batch = new_id(), new_batch_id()
                of = {"account": account, "lane": lane}
                connection.execute(SEND, {"id": send, "sender_id": sender_id, "segments": most, **of})
                connection.execute(BATCH, {"id": batch, "send": send, "segments": own, **of})
                batches.append((batch, sender_id, lane, own or most))
    return account, batches


def everything(engine: Engine, account: int) -> str:
    """All statements as a face would write them, without when they were closed."""
    with engine.connect() as connection:
        found = [
            each._replace(closed_at=None).as_dict() for each in read_statements(connection, account, MONTHS[-1], 9)
        ]
    return json.dumps(found, default=str)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(postings=POSTINGS, horizons=HORIZONS)
def test_statements_are_the_ledger(engine: Engine, postings: list[Posting], horizons: list[int]) -> None:
    account, batches = new_account(engine, JANUARY)
    expected: Counter[tuple[Any, ...]] = Counter()
    charged: dict[UUID, str] = {}
    moved = Counter(dict.fromkeys(MONTHS, 0))
    by_time = sorted(postings, key=lambda each: each.second)
    with engine.begin() as connection:
        for step, each in enumerate(by_time):
            at = JANUARY + timedelta(seconds=each.second)
            batch, sender_id, _, price = batches[each.batch]
            month, key = at.date().replace(day=1), (None, None, None)
            subject_type, subject, messages = "batch", batch, each.messages
            if each.kind in ("topup", "reversal"):
                subject_type, subject, price = "topup", uuid4(), 1
            elif each.kind == "refund" and batch not in charged:
                continue
            elif each.kind in ("capture", "refund"):
                if each.of_message:
                    subject_type, subject, messages = "message", message_id(batch, step + 1), 1
                if each.kind == "capture":
                    charged.setdefault(batch, f"{at:%Y-%m}")
                key = (charged[batch] if each.kind == "refund" else None, sender_id, price)
            debit, credit = BOOKS[each.kind]
            posted = {"kind": each.kind, "debit": debit, "credit": credit, "amount": messages * price, "at": at}
            subject_of = {"subject_type": subject_type, "subject": subject, "step": step}
            connection.execute(POST, {"account": account, **posted, **subject_of})
            if each.kind in KINDS:
                credits = messages * price * (1 if credit == "available" else -1)
                expected[month, each.kind, *key] += credits
                moved[month] += credits
    live = everything(engine, account)
    for hours in sorted(horizons):
        count_statements(engine, JANUARY + timedelta(hours=hours))
        assert everything(engine, account) == live
    with engine.begin() as connection:
        for statement in FORGET:
            connection.execute(statement, {"account": account})
    assert everything(engine, account) == live
    count_statements(engine, MAY + timedelta(hours=2))
    assert everything(engine, account) == live
    with engine.connect() as connection:
        closed = read_statements(connection, account, MONTHS[-1], 9)[::-1]
    assert [its.month for its in closed] == MONTHS
    opening = 0
    for its in closed:
        assert its.closed_at is not None
        assert its.opening == opening
        opening += moved[its.month]
        assert its.as_dict()["closing"] == opening
        for line in its.lines:
            key = (line["month"], line["sender_id"], line["price"])
            assert line["credits"] == expected.pop((its.month, line["kind"], *key))
            assert abs(line["credits"]) == line["messages"] * (line["price"] or 0) or line["price"] is None
    assert not +expected
    assert not -expected


def test_every_kind_that_moves_the_balance_is_in_statements() -> None:
    held = {"available", "reserved"}
    moving = {kind for kind, (debit, credit) in BOOKS.items() if (debit in held) != (credit in held)}
    assert moving <= set(KINDS)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A transaction that is open is not waited for."""
    monkeypatch.setattr(shared.statements, "WAIT_SECONDS", 0.0)
    yield


def now_and_then(connection: Connection) -> tuple[datetime, datetime]:
    """The database's time, and two hours after the end of its month."""
    now: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    following = (now.replace(day=1, hour=2, minute=0, second=0, microsecond=0) + timedelta(days=32)).replace(day=1)
    return now, following


def statement(engine: Engine, account: int, month: datetime) -> Statement:
    with engine.connect() as connection:
        found = read_statement(connection, account, f"{month:%Y-%m}")
    assert found is not None
    return found


@pytest.mark.usefixtures("impatient")
def test_what_is_in_flight_at_the_end_of_a_month_is_in_one_statement(engine: Engine) -> None:
    with engine.begin() as connection:
        account = create_account(connection, f"account {next(NUMBERS)}")
        now, following = now_and_then(connection)
    with engine.begin() as late:
        post(late, [Entry(account, "topup", 5, "topup", uuid4())])
        count_statements(engine, following)
        assert statement(engine, account, now).closed_at is None
        assert statement(engine, account, now).as_dict()["closing"] == 0
    count_statements(engine, following)
    closed = statement(engine, account, now)
    assert closed.closed_at is not None
    assert closed.as_dict()["closing"] == 5
    with engine.begin() as connection:
        late_again = Entry(account, "topup", 7, "topup", uuid4())
        post(connection, [late_again])
    assert statement(engine, account, now) == closed, "it never changes"


def test_a_statement_adds_up_to_the_balance(service: Service) -> None:
    engine, account = service.engine, service.account_id
    service.bulk(["254711000001", "254711000002"], message="x" * 161)
    one = service.send("254711000003", category="marketing").json
    service.send("254711000004", send_at=ahead())
    service.bulk([{"phone": f"25471100000{each}", "variables": {"x": "x" * 161 * each}} for each in (0, 1)], "{{x}}!")
    with engine.begin() as connection:
        now, following = now_and_then(connection)
        refund_message(connection, account, UUID(one["message_id"]), "test")
        reverse_top_up(connection, account, "test", 100, "test")
        top_up(connection, account, 10, "test", "more")
    balance = service.get("/balance").json
    found = statement(engine, account, now)
    shown = found.as_dict()
    del shown["lines"]
    assert shown == {
        "month": f"{now:%Y-%m}",
        "closed": False,
        "opening": 0,
        "top_ups": 1010,
        "reversals": -100,
        "adjustments": 0,
        "charges": -8,
        "refunds": 1,
        "closing": balance["balance"] + balance["reserved"],
    }
    columns = ("kind", "month", "sender_id", "category", "price", "messages", "segments", "credits")
    assert [tuple(line[name] for name in columns) for line in found.lines] == [
        ("topup", None, None, None, None, 0, 0, 1010),
        ("reversal", None, None, None, None, 0, 0, -100),
        ("capture", None, "ACME", "marketing", 1, 1, 1, -1),
        ("capture", None, "ACME", "transactional", 1, 1, 1, -1),
        ("capture", None, "ACME", "transactional", 2, 3, 6, -6),
        ("refund", f"{now:%Y-%m}", "ACME", "marketing", 1, 1, 1, 1),
    ]
    forget(engine, 1, following + timedelta(days=4))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM message")).scalar_one() == 0
    assert statement(engine, account, now) == found
    count_statements(engine, following)
    assert statement(engine, account, now)[:4] == found[:4]
