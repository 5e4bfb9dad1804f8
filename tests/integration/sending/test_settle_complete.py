"""A cycle in which every message has a result ends with one statement, and its effects are those of the general way."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

import worker.sending.settle_complete
from shared import outbox
from shared.audit.check import audit
from shared.lifecycle import MessageStatus
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.integration.sending.test_record import (
    AT,
    FAILED,
    IN_DOUBT,
    LATER,
    REJECTED,
    SENT,
    claimed,
    counters,
    put,
    rows,
)
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.settle_complete import are_complete, settle_complete
from worker.sending.settle_rest import settle_rest

numbers = iter(range(254_770_000_000, 254_771_000_000, 100))

SEND = text(
    """
    SELECT state, open_batches, sent, rejected, failed, in_doubt, completed_at IS NOT NULL FROM send WHERE id = :id
    """
)
BATCH = text(
    """
    SELECT state, next_index, retry_indexes, intent, watermark, lease_until, database_started, attempts, crashes,
           carrier, portion, route FROM batch WHERE id = :id
    """
)
LOOK_AT_THE_ACCOUNT = (
    "CREATE TABLE locked_account (what text)",
    """
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO locked_account
        SELECT TG_ARGV[0] || ' ' || (a.xmax = pg_current_xact_id()::xid OR a.xmin = pg_current_xact_id()::xid)
          FROM account a WHERE a.id = (SELECT max(id) FROM account);
        RETURN NEW;
    END $$
    """,
    "CREATE TRIGGER look BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION look('message')",
    "CREATE TRIGGER look BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION look('ledger')",
)
LEDGER = text("SELECT kind, debit, credit, amount, step FROM ledger WHERE subject = :id ORDER BY kind")
BALANCE = text("SELECT available, reserved FROM account WHERE id = :id")


engine = own_database


@pytest.fixture
def first(service: Service) -> Iterator[int]:
    yield next(numbers)
    service.execute("DELETE FROM batch WHERE state IN ('queued', 'sending')")


@pytest.fixture
def listens(service: Service) -> Iterator[None]:
    """The account listens to its events."""
    service.execute("INSERT INTO listener (account_id) VALUES (:id)", id=service.account_id)
    outbox._listening.clear()
    yield
    service.execute("DELETE FROM listener")
    outbox._listening.clear()


def result(position: int, status: MessageStatus) -> Result:
    sent = status is SENT
    return Result(
        status, f"r{position}" if sent else None, None if sent else "an error", AT if sent else LATER, position % 4
    )


def outcome(service: Service, batches: list[ClaimedBatch], first: int) -> list[Any]:
    """What is in the database of the slices; the balance as its change since they were claimed."""
    found: list[Any] = [rows(service, first)]
    for batch in batches:
        found += [
            tuple(service.row(SEND, id=batch.send_id)),
            tuple(service.row(BATCH, id=batch.batch_id)),
            [tuple(row) for row in service.execute(LEDGER, id=batch.batch_id)],
        ]
    return found


def balance(service: Service) -> tuple[int, int]:
    with service.engine.connect() as connection:
        available, reserved = connection.execute(BALANCE, {"id": service.account_id}).one()
        return available, reserved


def general(*_: object) -> bool:
    return False


def end(service: Service, batches: list[ClaimedBatch]) -> None:
    """End a cycle, as the dispatcher does."""
    if rest := settle_complete(service.engine, batches, "simulator"):
        settle_rest(service.engine, rest, "simulator", 0.0)


CASES = {
    "all sent": [[SENT] * 3, [SENT]],
    "all kinds": [[SENT, REJECTED, FAILED, SENT], [FAILED, SENT, SENT, REJECTED]],
    "nothing to charge": [[REJECTED, FAILED]],
    "many small ones": [[SENT]] * 12 + [[FAILED]],
}


@pytest.mark.parametrize("statuses", CASES.values(), ids=CASES)
def test_both_ways_come_to_the_same(
    service: Service, statuses: list[list[MessageStatus]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the rows of messages, sends, batches and the ledger, and in the account."""
    found = []
    ways: tuple[Callable[..., bool], ...] = (are_complete, general)
    for way in ways:
        first, before = next(numbers), balance(service)
        batches = [
            batch
            for number, each in enumerate(statuses)
            for batch in claimed(service, first + 5 * number, phones=len(each))
        ]
        assert len(batches) == len(statuses)
        for batch, each in zip(batches, statuses, strict=True):
            put(batch, *map(result, range(len(each)), each))
        assert are_complete(batches)
        monkeypatch.setattr(worker.sending.settle_complete, "are_complete", way)
        end(service, batches)
        made = outcome(service, batches, first)
        made[0] = [(row[0] - first, *row[1:]) for row in made[0]]
        change = [now - then for now, then in zip(balance(service), before, strict=True)]
        found.append([*made, change])
    assert found[0] == found[1]
    assert found[0][-1] == [-sum(each.count(SENT) for each in statuses), 0]
    assert audit(service.engine, full=True) == []


def test_results_recorded_during_the_cycle_are_counted_once(service: Service, first: int) -> None:
    from worker.sending.record import record_results

    [batch] = claimed(service, first, phones=4)
    for position in range(2):
        batch.put(position, result(position, SENT))
    batch.next_position = 2
    record_results(service.engine, [batch], 2, "simulator", 60.0)
    for position in range(2, 4):
        batch.put(position, result(position, FAILED))
    end(service, [batch])
    assert counters(service, batch) == (2, 0, 2, 0)
    assert len(rows(service, first)) == 4
    assert audit(service.engine, full=True) == []


def test_a_batch_that_another_cycle_has_taken_is_left_alone(service: Service, first: int) -> None:
    lost, held = claimed(service, first, phones=5, sends=2)
    for batch in (lost, held):
        put(batch, *(result(position, SENT) for position in range(5)))
    service.execute("UPDATE batch SET epoch = epoch + 1 WHERE id = :id", id=lost.batch_id)
    end(service, [lost, held])
    assert (lost.lost, held.lost) == (True, False)
    assert (counters(service, lost), counters(service, held)) == ((0, 0, 0, 0), (5, 0, 0, 0))
    assert [row[0] for row in rows(service, first)] == [first + 5 + position for position in range(5)]


def test_after_a_database_restart_the_general_way_looks_which_rows_exist(service: Service, first: int) -> None:
    [batch] = claimed(service, first, phones=3)
    put(batch, *(result(position, SENT) for position in range(3)))
    service.execute("UPDATE batch SET database_started = now() - interval '1 day' WHERE state = 'sending'")
    assert settle_complete(service.engine, [batch], "simulator") == [batch]
    assert rows(service, first) == []
    end(service, [batch])
    assert counters(service, batch) == (3, 0, 0, 0)


def test_an_account_that_listens_gets_events_of_messages_and_sends(service: Service, first: int, listens: None) -> None:
    """As before: events are written before the account's row is locked."""
    [batch] = claimed(service, first, phones=3)
    put(batch, result(0, SENT), result(1, FAILED), result(2, SENT))
    assert are_complete([batch])
    assert settle_complete(service.engine, [batch], "simulator") == [batch]
    end(service, [batch])
    query = text("SELECT type, indexes, error FROM event WHERE send_id = :id ORDER BY type, id")
    found = [tuple(row) for row in service.execute(query, id=batch.send_id)]
    assert found == [
        ("message.failed", [2], "an error"),
        ("message.sent", [1, 3], None),
        ("send.completed", None, None),
    ]


def test_the_account_is_locked_last(service: Service, first: int) -> None:
    """Its row is free while the rows of messages and of the ledger are written: whoever sends waits for it."""
    batches = claimed(service, first, phones=5, sends=2)
    for batch in batches:
        put(batch, *(result(position, FAILED if position == 3 else SENT) for position in range(5)))
    for statement in LOOK_AT_THE_ACCOUNT:
        service.execute(statement)
    try:
        assert settle_complete(service.engine, batches, "simulator") == []
        seen = service.execute("SELECT what, count(*) FROM locked_account GROUP BY 1")
    finally:
        for table in ("message", "ledger"):
            service.execute(f"DROP TRIGGER look ON {table}")
        service.execute("DROP FUNCTION look; DROP TABLE locked_account")
    assert sorted(map(tuple, seen)) == [("ledger false", 4), ("message false", 10)]


@pytest.mark.parametrize("what", ["left", "in doubt", "unsure", "lost", "stop_if"])
def test_a_batch_with_something_left_to_decide_takes_the_general_way(service: Service, first: int, what: str) -> None:
    [batch] = claimed(service, first, phones=2)
    put(batch, result(0, SENT))
    if what != "left":
        batch.put(1, result(1, IN_DOUBT if what == "in doubt" else SENT))
    batch.rows_uncertain, batch.lost = what == "unsure", what == "lost"
    if what == "stop_if":
        batch.rules = {"stop_if": {"failed_share": 0.5, "min_messages": 10}}
    assert not are_complete([batch])
