"""What a window came to is recorded by one statement: rows, counters, watermarks, and whose batch it is."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from shared import outbox
from shared.db.connection import is_outage_or_timeout, reading
from shared.lifecycle import MessageStatus
from tests.harness.database import wait_until_ended
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.next_batches import ClaimRequest
from worker.sending.record import RECORD_RESULTS, record_results
from worker.sending.settle_complete import RECORDED, parameters_of
from worker.sending.settle_rest import settle_rest

SENT, FAILED, REJECTED, IN_DOUBT = (
    MessageStatus.SENT,
    MessageStatus.FAILED,
    MessageStatus.REJECTED,
    MessageStatus.IN_DOUBT,
)
AT, LATER = "2026-01-02 03:04:05+00:00", "2026-01-02 03:04:06.5+00:00"

ROWS = text(
    """
    SELECT phone, CAST(status AS text), attempts, reference, error, price, carrier, route,
           submitted_at = CAST(:at AS timestamptz), finished_at IS NULL
      FROM message WHERE phone BETWEEN :first AND :first + 99 ORDER BY phone
    """
)
DUE = (
    text("UPDATE send SET state = 'queued', send_at = NULL WHERE id = :id"),
    text("UPDATE batch SET state = 'queued' WHERE send_id = :id"),
)
numbers = iter(range(254_760_000_000, 254_761_000_000, 100))


@pytest.fixture
def first(service: Service) -> Iterator[int]:
    """The first of a hundred phones. What is left of their batches is nobody's afterwards."""
    yield next(numbers)
    service.execute("DELETE FROM batch WHERE state IN ('queued', 'sending')")


def claimed(service: Service, first: int, phones: int = 10, sends: int = 1) -> list[ClaimedBatch]:
    """The batches of a cycle: one of so many phones for each send."""
    tomorrow = ahead()
    for number in range(sends):
        start = first + number * phones
        sent = service.bulk([str(start + index) for index in range(phones)], send_at=tomorrow)
        for change in DUE:
            service.execute(change, id=sent.json["send_id"])
    return claim(service.engine, ClaimRequest(budget=1000, window_size=100, lease=60))


def put(batch: ClaimedBatch, *results: Result) -> None:
    for position, result in enumerate(results):
        batch.put(position, result)
    batch.next_position = len(results)


def rows(service: Service, first: int) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in service.execute(ROWS, first=first, at=AT)]


def counters(service: Service, batch: ClaimedBatch) -> tuple[int, ...]:
    return tuple(service.row("SELECT sent, rejected, failed, in_doubt FROM send WHERE id = :id", id=batch.send_id))


def record(service: Service, batches: list[ClaimedBatch]) -> None:
    record_results(service.engine, batches, 5, "simulator", lease=60)


def test_an_opt_out_that_the_carrier_reports_is_recorded_with_its_row(service: Service, first: int) -> None:
    """And the list is read again before the next window."""
    [batch] = claimed(service, first)
    put(batch, Result(SENT, "r0", None, AT, 1), Result(REJECTED, None, "recipient_opted_out=21610", AT, 1))
    snapshot = service.scalar("SELECT CAST(pg_current_snapshot() AS text)")
    record_results(service.engine, [batch], 5, "simulator", lease=60, opt_out_snapshot=snapshot)
    assert [row[1] for row in rows(service, first)] == ["sent", "rejected"]
    opted_out = "SELECT phone, reason FROM suppression WHERE account_id = :account AND phone >= :first"
    found = service.execute(opted_out, account=service.account_id, first=first)
    assert [tuple(row) for row in found] == [(first + 1, "carrier")]
    assert batch.opted_out


def test_rows_that_differ_in_everything(service: Service, first: int) -> None:
    one, other = claimed(service, first, sends=2)
    one.route, other.price = 'by "prefix"', 2
    put(
        one,
        Result(SENT, 'a{"b,\\', None, AT, 1),
        Result(REJECTED, None, "opted_out", LATER, 0),
        Result(FAILED, None, "system error", AT, 3),
        Result(SENT, None, None, AT, 2),
        Result(IN_DOUBT, None, None, AT, 1),
    )
    put(other, Result(SENT, "c", None, AT, 1))
    record(service, [one, other])
    assert rows(service, first) == [
        (first, "sent", 1, 'a{"b,\\', None, 1, "simulator", 'by "prefix"', True, True),
        (first + 1, "rejected", 0, None, "opted_out", 1, "simulator", 'by "prefix"', False, False),
        (first + 2, "failed", 3, None, "system error", 1, "simulator", 'by "prefix"', True, False),
        (first + 3, "sent", 2, f"to:{first + 3}", None, 1, "simulator", 'by "prefix"', True, True),
        (first + 10, "sent", 1, "c", None, 2, "simulator", None, True, True),
    ]
    assert (counters(service, one), counters(service, other)) == ((2, 1, 1, 0), (1, 0, 0, 0))
    assert (one.unrecorded, other.unrecorded) == ([4], []), "what is in doubt is recorded at the end"
    settle_rest(service.engine, [one, other], "simulator", 0.0)
    assert rows(service, first)[4][:2] == (first + 4, "in_doubt")
    assert counters(service, one) == (2, 1, 1, 1)


def test_nothing_is_written_for_a_batch_that_another_cycle_has_taken(service: Service, first: int) -> None:
    lost, held = claimed(service, first, sends=2)
    service.execute("UPDATE batch SET epoch = epoch + 1 WHERE id = :id", id=lost.batch_id)
    for batch in (lost, held):
        put(batch, Result(SENT, "r", None, AT, 1))
    record(service, [lost, held])
    assert (lost.lost, held.lost) == (True, False)
    assert [row[0] for row in rows(service, first)] == [first + 10]
    assert (counters(service, lost), counters(service, held)) == ((0, 0, 0, 0), (1, 0, 0, 0))


def test_a_paused_send_is_recorded_and_goes_no_further(service: Service, first: int) -> None:
    [batch] = claimed(service, first)
    service.execute("UPDATE send SET state = 'paused' WHERE id = :id", id=batch.send_id)
    put(batch, Result(SENT, "r", None, AT, 1))
    record(service, [batch])
    assert batch.halted
    assert len(rows(service, first)) == 1


def test_after_a_database_restart_it_first_looks_which_rows_exist(service: Service, first: int) -> None:
    [batch] = claimed(service, first)
    put(batch, Result(SENT, "r0", None, AT, 1))
    record(service, [batch])
    service.execute("UPDATE batch SET database_started = now() - interval '1 day' WHERE state = 'sending'")
    batch.put(1, Result(SENT, "r1", None, AT, 1))
    record(service, [batch])
    assert len(rows(service, first)) == 1
    assert (batch.unrecorded, batch.rows_uncertain, batch.halted) == ([0, 1], True, True)
    settle_rest(service.engine, [batch], "simulator", 0.0)
    assert [row[3] for row in rows(service, first)] == ["r0", "r1"]
    assert counters(service, batch) == (2, 0, 0, 0)


def test_the_events_of_an_account_that_listens_are_of_the_same_commit(service: Service, first: int) -> None:
    account = service.account_id
    service.execute("INSERT INTO listener (account_id) VALUES (:id)", id=account)
    try:
        [batch] = claimed(service, first)
        put(batch, Result(SENT, "r0", None, AT, 1), Result(FAILED, None, "e", AT, 3))
        outbox._listening.clear()
        record(service, [batch])
        with service.engine.connect() as connection:
            stored = connection.execute(
                text("SELECT type, indexes, error FROM event WHERE batch_id = :id ORDER BY id"), {"id": batch.batch_id}
            )
            assert [tuple(row) for row in stored] == [("message.sent", [1], None), ("message.failed", [2], "e")]
        assert len(rows(service, first)) == 2
    finally:
        service.execute("DELETE FROM listener")
        outbox._listening.clear()


def test_its_commit_does_not_wait_for_the_disk(service: Service, first: int) -> None:
    [batch] = claimed(service, first)
    parameters = {
        "id": [batch.batch_id],
        "epoch": [batch.epoch],
        "watermark": [1],
        "lease": 60,
        "opt_out_snapshot": None,
    }
    show = text("SHOW synchronous_commit")
    with reading(service.engine) as connection:
        connection.execute(text("SET synchronous_commit = on"))
        connection.execute(text("BEGIN"))
        connection.execute(
            RECORD_RESULTS, parameters_of([], "simulator") | {status: [0] for status in RECORDED} | parameters
        )
        within = connection.execute(show).scalar_one()
        connection.execute(text("COMMIT"))
        assert (within, connection.execute(show).scalar_one()) == ("off", "on")
        connection.invalidate()


def test_errors_of_a_lost_connection_are_outages() -> None:
    assert is_outage_or_timeout(psycopg.OperationalError("server closed the connection unexpectedly"))
    assert is_outage_or_timeout(psycopg.InterfaceError("the connection is closed"))
    assert not is_outage_or_timeout(psycopg.errors.UniqueViolation())


def test_a_session_ended_while_idle_in_a_transaction_counts_as_an_outage(service: Service) -> None:
    with pytest.raises(OperationalError) as raised, service.engine.begin() as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 50"))
        wait_until_ended(service.engine, connection)
        connection.execute(text("SELECT 1"))
    assert is_outage_or_timeout(raised.value)
    assert service.scalar("SELECT 1") == 1
