"""Statements that pages repeat every few seconds read what waits, not all that there ever was."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Delete, Engine, text

from api.resources.sends.bottleneck import AHEAD_OF_ACCOUNT, AHEAD_OF_SEND
from shared.carriers import control
from shared.doubts import resolution
from shared.health import doctor
from shared.inbound.owners import OWNED
from shared.inbound.store import OVERDUE
from shared.sends import batch_states, fair_queueing, requeue, send_states
from worker.carriers import simulator
from worker.recovery import close_ended_sends
from worker.webhooks import store
from worker.webhooks.prune import PRUNE

STATEMENTS = {
    "ahead of a send": (AHEAD_OF_SEND, {"owner": UUID(int=1)}),
    "ahead of an account": (AHEAD_OF_ACCOUNT, {"owner": 1}),
    "carriers": (control.LIST, {"fresh": 10.0}),
    "limits of carriers": (control.LIMITS, {"fresh": 10.0}),
    "sends that are held": (doctor.HELD, {}),
    "clock of the queue": (fair_queueing.NOW, {}),
    "requeuing batches": (requeue.REQUEUE_BATCHES, {"ids": "{}", "clock": 1}),
    "requeuing a send": (requeue.REQUEUE_SEND, {"send": UUID(int=1), "clock": 1}),
    "raising a send with a rate": (requeue.RAISE_PACED, {"send": UUID(int=1), "most": 1}),
}
LARGE = ("batch", "send", "message")
JOBS = {"limit": 1, "have_failed": False}
DUE = {
    "batches": (batch_states.WAKE_DUE, {}, "due_at"),
    "canceled and expired sends": (close_ended_sends.ENDED_SENDS, {}, "expires_at"),
    "deliveries of one webhook": (store.DUE, {"id": UUID(int=1), "limit": 1}, "next_at"),
    "doubts": (resolution.RUN_OUT, {"grace": timedelta(1), **JOBS}, "expires_at"),
    "parts of messages": (OVERDUE, {"kept": 0}, "received_at"),
    "scheduled sends": (send_states.START_DUE, {}, "send_at"),
    "simulated receipts": (simulator.DUE, {"carrier": "simulator"}, "due_at"),
    "webhooks": (store.CLAIM, {"limit": 1}, "next_at"),
}
"""Statements that look for what is due, with their parameters and the column that tells it."""


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_large_table_is_read_as_a_whole(engine: Engine, name: str) -> None:
    statement, parameters = STATEMENTS[name]
    plan = explained(engine, statement, parameters)
    assert [table for table in LARGE if f"Seq Scan on {table}" in plan] == [], plan


@pytest.mark.parametrize("name", DUE)
def test_what_is_not_due_is_not_read(engine: Engine, name: str) -> None:
    statement, parameters, column = DUE[name]
    plan = explained(engine, statement, parameters)
    conditions = [line for line in plan.splitlines() if "Index Cond" in line]
    assert any(f"{column} <" in line for line in conditions), plan


def test_what_waits_for_a_carrier_is_not_read_to_find_what_is_due(engine: Engine) -> None:
    plan = explained(engine, batch_states.WAKE_DUE, {})
    for index, half in zip(("ix_batch_due_unrouted", "ix_batch_due"), plan.split("LockRows")[1:], strict=True):
        assert f"using {index} " in half and "Index Cond: (due_at <" in half, plan


@pytest.mark.parametrize("statement", PRUNE[:2], ids=["events", "deliveries"])
def test_rows_too_young_to_be_deleted_are_not_read(engine: Engine, statement: Delete) -> None:
    plan = explained(engine, statement, {})
    conditions = [line for line in plan.splitlines() if "Index Cond" in line]
    assert any("id < " in line for line in conditions), plan
    assert "Filter" not in plan, plan


def test_a_number_of_nobody_does_not_read_all_sender_ids(engine: Engine) -> None:
    plan = explained(engine, OWNED, {"numbers": ["254204900138"]})
    assert "Index Cond: (lower(sender_id) = ANY" in plan, plan


def explained(engine: Engine, statement: Any, parameters: dict[str, Any]) -> str:
    """The plan of a statement where a scan of a whole table is the last resort, as it is of a large one."""
    compiled = statement.compile(engine)
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        return "\n".join(connection.exec_driver_sql(f"EXPLAIN {compiled}", {**compiled.params, **parameters}).scalars())
