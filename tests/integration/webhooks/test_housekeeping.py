"""What a process of webhooks does beside posting: it deletes what is old, and puts a restored dump into order."""

from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from shared import outbox
from shared.lifecycle import EventType
from tests.harness.own_database import own_database
from tests.harness.service import Service
from worker.webhooks import prune
from worker.webhooks.renumber import mend_order

OLD_ID = "CAST('01800000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid)"
ADD_DELIVERIES = text(
    f"""INSERT INTO delivery (webhook_id, event_id, type, state, attempts, url)
        SELECT id, {OLD_ID}, 'message.sent', 'delivered', 1, 'x' FROM webhook, generate_series(1, :rows) n"""
)
ADD_EVENTS = text(
    f"""INSERT INTO event (id, account_id, type, data)
        SELECT {OLD_ID}, account_id, 'balance.low', '{{}}' FROM webhook, generate_series(1, :rows) n"""
)


engine = own_database


@pytest.fixture
def service(engine: Engine) -> Service:
    """An account with a webhook."""
    made = Service(engine, webhook_loopback=True)
    assert made.post("/webhooks", url="http://127.0.0.1:9/").status_code == 200
    return made


def run(service: Service, statement: Any, **parameters: Any) -> None:
    service.execute(statement, **parameters)


def count(service: Service, table: str) -> int:
    with service.engine.connect() as connection:
        found: int = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
        return found


def test_one_round_deletes_all_old_deliveries_of_a_busy_webhook(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "SECONDS", 3_600.0)
    run(service, ADD_DELIVERIES, rows=2 * prune.OF_WEBHOOK + 1)
    prune.prune(service.engine)
    assert count(service, "delivery") == 0


def test_a_round_ends_when_its_time_is_over(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement has run once."""
    monkeypatch.setattr(prune, "SECONDS", 0.0)
    run(service, ADD_EVENTS, rows=prune.STEP + 1)
    run(service, ADD_DELIVERIES, rows=2 * prune.OF_WEBHOOK + 1)
    prune.prune(service.engine)
    assert (count(service, "event"), count(service, "delivery")) == (1, prune.OF_WEBHOOK + 1)


def test_a_webhook_without_anything_to_retry_no_longer_fails(service: Service) -> None:
    run(service, "UPDATE webhook SET failures = 3, failing_since = now() - interval '2 hours'")
    run(service, ADD_DELIVERIES, rows=1)
    run(service, "UPDATE delivery SET event_id = gen_random_uuid(), state = 'pending', next_at = now()")
    prune.prune(service.engine)
    assert count(service, "webhook WHERE failing_since IS NOT NULL") == 1
    run(service, "UPDATE delivery SET state = 'failed', next_at = NULL")
    run(service, "UPDATE webhook SET lease_until = now() + interval '50 s'")
    prune.prune(service.engine)
    assert count(service, "webhook WHERE failing_since IS NOT NULL") == 1, "a process may be storing a retry"
    run(service, "UPDATE webhook SET lease_until = now()")
    prune.prune(service.engine)
    assert count(service, "webhook WHERE failing_since IS NULL AND failures = 0") == 1


def statements(service: Service, beginning: str) -> list[str]:
    """The statements that begin so, from now on. After each, another transaction adds an event."""
    seen: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(beginning):
            seen.append(statement)
            service.transact(outbox.add, service.account_id, EventType.BALANCE_LOW, {})

    event.listen(service.engine, "after_cursor_execute", note)
    return seen


def test_an_event_that_happens_while_a_dump_is_put_into_order_keeps_its_place(service: Service) -> None:
    run(service, ADD_EVENTS, rows=3)
    for table in ("event", "webhook"):
        run(service, text(f"UPDATE {table} SET xid = xid + 1000000000"))
    between = statements(service, "UPDATE webhook")
    assert mend_order(service.engine) == 3
    assert len(between) == 1
    assert mend_order(service.engine) == 0
    assert count(service, "event WHERE CAST(CAST(xmin AS text) AS bigint) = xid") == 4
