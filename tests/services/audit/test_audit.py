"""The audit: clean beside a system at work, and each rule finds what it forbids.

Sabotage is done by the owner of the tables, in a transaction that is rolled back after the look.
"""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, Engine, text

from shared.accounts.top_ups import reverse_top_up
from shared.audit.check import audit, check
from shared.audit.rules import RULES
from shared.doubts.resolution import Resolution, expire_doubts, resolve
from shared.lifecycle import MessageStatus
from tests.harness.service import Service
from tests.harness.sql import Database
from worker.recovery.recover import recover
from worker.sending.claim import claim
from worker.sending.next_batches import ClaimRequest
from worker.sending.record import record_results
from worker.sending.windows import apply_outcomes, message_groups, next_window

TOMORROW = datetime.now(UTC) + timedelta(days=1)
LATER = {"send_at": TOMORROW.isoformat(), "expires_at": (TOMORROW + timedelta(days=1)).isoformat()}
RULE = {rule.name: rule for rule in RULES}
UNGUARD = "GRANT UPDATE, DELETE ON ledger TO CURRENT_USER; ALTER TABLE ledger DISABLE TRIGGER ledger_append_only"
POST = "INSERT INTO ledger (account_id, kind, debit, credit, amount, subject_type, subject, step) "
REFUND = "'refund', 'revenue', 'available'"
REVERSAL = "'reversal', 'available', 'funding'"
ADJUSTMENT = "'adjustment', 'available', 'funding'"
RELEASE = "'release', 'reserved', 'available'"
NOT_DUE = "SELECT min(id::text)::uuid FROM batch WHERE state = 'waiting'"
DELIVERED = "(SELECT min(id::text)::uuid FROM message WHERE status = 'delivered' AND price > 0)"

SABOTAGE = [
    ("account_caches", "UPDATE account SET available = available + 1"),
    ("account_caches", "UPDATE account SET reserved = reserved + 1"),
    ("account_caches", UNGUARD, "UPDATE ledger SET amount = amount + 1 WHERE kind = 'topup'"),
    ("not_negative", "ALTER TABLE account DROP CONSTRAINT ck_account_reserved", "UPDATE account SET reserved = -1"),
    (
        "not_negative",
        "ALTER TABLE account DISABLE TRIGGER account_credit_limit",
        "UPDATE account SET available = -credit_limit - 1",
    ),
    ("zero_sum", "UPDATE account SET available = available - 1"),
    ("worlds", "UPDATE send SET test = NOT test"),
    ("worlds", "UPDATE api_key SET test = NOT test"),
    ("ledger_guarded", UNGUARD),
    ("ledger_guarded", "DROP TRIGGER ledger_no_truncate ON ledger"),
    ("ledger_guarded", "DROP TRIGGER audit_log_append_only ON audit_log"),
    ("ledger_guarded", "ALTER TABLE account DISABLE TRIGGER account_credit_limit"),
    ("ledger_subjects", f"{POST} SELECT id, {RELEASE}, 1, 'batch', gen_random_uuid(), 0 FROM account"),
    ("ledger_subjects", f"{POST} SELECT account_id, {RELEASE}, 1, 'topup', id, 5 FROM send LIMIT 1"),
    ("ledger_subjects", f"{POST} SELECT account_id, {REVERSAL}, 1, 'send', id, 5 FROM send LIMIT 1"),
    ("ledger_subjects", f"{POST} SELECT account_id, {ADJUSTMENT}, 1, 'send', id, 5 FROM send LIMIT 1"),
    ("ledger_subjects", f"{POST} SELECT account_id, {RELEASE}, 1, 'adjustment', id, 5 FROM send LIMIT 1"),
    ("reversal_topped_up", f"{POST} SELECT id, {REVERSAL}, 1, 'topup', gen_random_uuid(), 0 FROM account"),
    (
        "reversal_topped_up",
        f"{POST} SELECT account_id, {REVERSAL}, amount, 'topup', subject, n FROM ledger, generate_series(1, 2) AS n"
        " WHERE kind = 'topup'",
    ),
    ("no_orphans", "UPDATE batch SET send_id = gen_random_uuid() WHERE state = 'waiting'"),
    ("no_orphans", "UPDATE send SET account_id = 4711 WHERE state = 'scheduled'"),
    ("no_orphans", f"{POST} SELECT 4711, {RELEASE}, 1, 'send', id, 5 FROM send LIMIT 1"),
    ("batch_prices", "UPDATE batch SET price = 2 WHERE state = 'waiting'"),
    ("price_versions", "UPDATE send SET price_version_id = 4711 WHERE state = 'scheduled'"),
    ("groups", "UPDATE contact_group_prefix SET contacts = contacts + 1"),
    ("send_reserve", f"{POST} SELECT account_id, {RELEASE}, 1, 'send', id, 5 FROM send LIMIT 1"),
    ("send_reserve", f"{POST} SELECT account_id, {RELEASE}, 1, 'batch', id, 5 FROM batch LIMIT 1"),
    ("send_reserve", UNGUARD, "DELETE FROM ledger WHERE kind = 'capture' AND subject_type = 'message'"),
    (
        "settled_once",
        f"{POST} SELECT account_id, {RELEASE}, 1, 'message', subject, 0 FROM ledger"
        " WHERE subject_type = 'message' AND kind = 'capture'",
    ),
    (
        "refund_captured",
        f"{POST} SELECT account_id, {REFUND}, 1, 'message', overlay(id::text placing '0001' from 33)::uuid, 0"
        f" FROM batch WHERE id IN ({NOT_DUE})",
    ),
    (
        "refund_captured",
        f"{POST} SELECT account_id, {REFUND}, 1, 'message', subject, 0 FROM ledger"
        " WHERE subject_type = 'message' AND kind = 'release'",
    ),
    (
        "spending",
        "INSERT INTO spending (account_id, period, begins, credits, most)"
        " SELECT account_id, 'month', (created_at AT TIME ZONE 'UTC')::date, 0, 1"
        " FROM ledger WHERE kind = 'reserve' LIMIT 1",
    ),
    (
        "usage",
        "INSERT INTO usage_hour (began_at, due_at, final)"
        " SELECT date_trunc('hour', min(created_at)), now(), true FROM send WHERE NOT test",
    ),
    (
        "archives",
        "INSERT INTO archived_week (began_at, first_id, end_id, sealed_at, messages, sha256, written_at)"
        " SELECT now(), min(id::text)::uuid, max(id::text)::uuid, now(), 0, '', now() FROM send",
    ),
    ("forgotten", "UPDATE send SET forgotten_at = now() WHERE state = 'completed'"),
    ("forgotten", "UPDATE send SET forgotten_at = now(), message = '' WHERE state = 'scheduled'"),
    ("batch_rows", f"DELETE FROM message WHERE id = {DELIVERED}"),
    ("batch_rows", f"UPDATE message SET id = overlay(id::text placing '1000' from 33)::uuid WHERE id = {DELIVERED}"),
    (
        "batch_rows",
        "INSERT INTO message (id, phone, submitted_at, status, price, attempts) SELECT"
        " overlay(id::text placing '0001' from 33)::uuid, 254711000000, now(), 'sent', 1, 1"
        f" FROM batch WHERE id IN ({NOT_DUE})",
    ),
    ("batch_rows", "UPDATE batch SET state = 'waiting' WHERE state = 'done'"),
    ("batch_rows", "UPDATE batch SET state = 'done' WHERE state = 'waiting'"),
    ("batch_money", f"UPDATE message SET status = 'failed' WHERE id = {DELIVERED}"),
    ("batch_money", UNGUARD, "DELETE FROM ledger WHERE kind = 'release' AND step = -1"),
    ("batch_money", UNGUARD, "UPDATE ledger SET amount = amount + 1 WHERE kind = 'capture' AND subject_type = 'batch'"),
    ("send_batches", "UPDATE send SET open_batches = open_batches + 1"),
    ("send_batches", "UPDATE send SET unexpanded = 1"),
    ("send_batches", "UPDATE send SET completed_at = NULL WHERE state = 'completed'"),
    ("send_batches", "UPDATE send SET completed_at = now() WHERE state = 'scheduled'"),
    ("send_batches", "UPDATE send SET state = 'sending' WHERE state = 'completed'"),
    ("send_batches", "UPDATE send SET delivered = delivered - 1 WHERE delivered > 0"),
    ("send_batches", "UPDATE send SET submitted = submitted + 1"),
    ("stopped_batches", f"UPDATE batch SET state = 'paused' WHERE id IN ({NOT_DUE})"),
    ("stopped_batches", f"UPDATE batch SET state = 'held' WHERE id IN ({NOT_DUE})"),
    ("send_counters", "UPDATE send SET sent = sent + 1, delivered = delivered - 1 WHERE delivered > 0"),
    ("send_counters", "UPDATE send SET canceled = canceled - 1, expired = expired + 1 WHERE canceled > 0"),
    ("send_counters", "UPDATE send SET failed = failed + 1"),
    ("carrier_reference", f"UPDATE message SET reference = NULL WHERE id = {DELIVERED}"),
    ("reference_once", "UPDATE message SET reference = 'same', phone = 254711000000 WHERE status = 'delivered'"),
    ("doubts", "DELETE FROM doubt"),
    (
        "doubts",
        "INSERT INTO doubt SELECT id, carrier, 'ACME', phone, submitted_at, now() FROM message WHERE status = 'sent'",
    ),
    ("doubts", "INSERT INTO doubt SELECT gen_random_uuid(), 'simulator', 'ACME', 254711000000, now(), now()"),
    ("groups", "UPDATE contact_group SET contact_count = contact_count + 1"),
    ("groups", "DELETE FROM contact WHERE position = 3"),
    ("groups", "UPDATE contact_group SET last_position = 1"),
    ("idempotency", "UPDATE idempotency SET response = replace(response, 'send_id', 'id')"),
    ("idempotency", "UPDATE send SET account_id = (SELECT max(id) FROM account)"),
    ("idempotency", "UPDATE idempotency SET fingerprint = 'short'"),
    (
        "idempotency",
        "INSERT INTO idempotency SELECT account_id, path, 'another', fingerprint, response, created_at, api_key_id"
        " FROM idempotency",
    ),
    (
        "leases",
        f"UPDATE batch SET state = 'sending', lease_until = now() - interval '61 s' WHERE id IN ({NOT_DUE})",
    ),
    ("doubts_end", "UPDATE doubt SET expires_at = now() - interval '24 hours 61 s'"),
    (
        "queue_moves",
        f"UPDATE batch SET state = 'queued', due_at = now() - interval '61 s' WHERE id IN ({NOT_DUE})",
    ),
]


def phones(count: int, first: int = 254711000000) -> list[str]:
    return [str(first + number) for number in range(count)]


@pytest.fixture(scope="module")
def service(engine: Engine) -> Service:
    """An installation that has seen everything that can happen to a send."""
    service = Service(engine, credits=100_000)
    another = service.new_account("another")
    service.send(headers={"Idempotency-Key": "one"})
    service.bulk([*phones(40), "x", *(f"999{outcome:02d}0000000" for outcome in range(1, 11))])
    group = service.new_group(phones(30))
    service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    service.bulk(phones(5), token=service.new_token(service.account_id, test=True))
    later = service.bulk(phones(7), **LATER)
    service.post(f"/sends/{later.json['send_id']}/cancel")
    service.bulk(phones(6), **LATER)
    service.sweep()
    service.deliver_receipts()
    service.bulk(["99906000001", "99906000002", "99906000003", *phones(3)])
    with engine.begin() as connection:
        reverse_top_up(connection, another, "test", 400, "a mistake")
        first, second, *_ = connection.execute(text("SELECT message_id FROM doubt ORDER BY 1")).scalars()
        resolve(connection, [Resolution(first, MessageStatus.SENT), Resolution(second, MessageStatus.FAILED)])
    return service


@pytest.fixture
def connection(service: Service) -> Iterator[Connection]:
    with service.engine.connect() as connection:
        yield connection
        connection.rollback()


def test_an_empty_database_is_clean(engine: Engine) -> None:
    assert audit(engine, full=True) == audit(engine, full=False) == []


def test_it_works(service: Service) -> None:
    assert audit(service.engine, full=True) == []
    assert audit(service.engine, full=False) == []


def test_it_is_clean_at_every_step_of_a_cycle_and_of_its_recovery(service: Service) -> None:
    engine, carrier = service.engine, service.worker.simulator
    send = service.bulk(phones(20, 254733000001), **LATER).json["send_id"]
    make_due(engine, send)
    slices = claim(engine, ClaimRequest(budget=100, window_size=5, lease=60))
    assert [len(piece.indexes) for piece in slices] == [20]
    assert audit(engine, full=True) == []

    window = next_window(slices, 5)
    apply_outcomes(window, carrier.submit(message_groups(window)))
    record_results(engine, slices, 5, carrier.name, lease=60)
    assert audit(engine, full=True) == []
    service.deliver_receipts()
    assert service.counts(send)["delivered"] == 5
    assert audit(engine, full=True) == []

    Database(engine).execute("UPDATE batch SET lease_until = now() WHERE state = 'sending'")
    assert len(recover(engine, lambda test: "simulator")) == 1
    assert service.counts(send) == {"submitted": 20, "accepted": 20, "queued": 10, "delivered": 5, "in_doubt": 5}
    assert audit(engine, full=True) == []
    service.post(f"/sends/{send}/cancel")
    assert audit(engine, full=True) == []
    Database(engine).execute("UPDATE doubt SET expires_at = now() - interval '1 s' WHERE phone > 254733000000")
    expire_doubts(engine, grace=0)
    assert service.counts(send) == {"submitted": 20, "accepted": 20, "delivered": 5, "canceled": 10, "expired": 5}
    assert audit(engine, full=True) == []


def test_it_is_clean_beside_a_system_at_work(engine: Engine) -> None:
    service = Service(engine, credits=1_000_000)
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            service.bulk([*phones(300), "99903000001", "99902000001", "99910000001"])
            service.deliver_receipts()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(12):
            assert audit(engine, full=True) == []
    finally:
        over.set()
        worker.join()
    assert audit(engine, full=True) == []


def test_every_rule_has_a_sabotage() -> None:
    assert {rule for rule, *_ in SABOTAGE} == set(RULE)


@pytest.mark.parametrize(("rule", "statements"), [pytest.param(rule, each, id=rule) for rule, *each in SABOTAGE])
def test_a_rule_finds_what_it_forbids(connection: Connection, rule: str, statements: list[str]) -> None:
    assert check(connection, RULE[rule], full=True) == []
    for statement in statements:
        assert connection.exec_driver_sql(statement).rowcount
    found = check(connection, RULE[rule], full=True)
    assert found
    assert all(breach.rule == rule and breach.subject and breach.detail for breach in found)
    assert all((breach.account_id is not None) == RULE[rule].freezes for breach in found)
    if not RULE[rule].full_only:
        assert check(connection, RULE[rule], full=False)


def test_a_fast_audit_leaves_out_what_ended_long_ago(connection: Connection) -> None:
    connection.execute(text("UPDATE send SET completed_at = now() - interval '25 hours', failed = failed + 1"))
    rule = RULE["send_counters"]
    assert check(connection, rule, full=True)
    assert not check(connection, rule, full=False)


def make_due(engine: Engine, send: str) -> None:
    """Let a scheduled send be the only one that may go out now."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'queued', send_at = now() WHERE id = :id"), {"id": send})
        connection.execute(text("UPDATE batch SET state = 'queued', due_at = now() WHERE send_id = :id"), {"id": send})
