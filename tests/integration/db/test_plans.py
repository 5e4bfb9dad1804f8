"""Statements that pages repeat every few seconds read what waits, not all that there ever was."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Delete, Engine, TextClause, text

from api.resources.sends.bottleneck import AHEAD_OF_ACCOUNT, AHEAD_OF_SEND
from shared.carriers import control
from shared.health import doctor
from shared.sends import fair_queueing, requeue
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


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_large_table_is_read_as_a_whole(engine: Engine, name: str) -> None:
    statement, parameters = STATEMENTS[name]
    plan = explained(engine, statement, parameters)
    assert [table for table in LARGE if f"Seq Scan on {table}" in plan] == [], plan


@pytest.mark.parametrize("statement", PRUNE[:2], ids=["events", "deliveries"])
def test_rows_too_young_to_be_deleted_are_not_read(engine: Engine, statement: Delete) -> None:
    plan = explained(engine, statement, {})
    conditions = [line for line in plan.splitlines() if "Index Cond" in line]
    assert any("id < " in line for line in conditions), plan
    assert "Filter" not in plan, plan


def test_a_full_scan_would_be_noticed(engine: Engine) -> None:
    assert "Seq Scan on batch" in explained(engine, text("SELECT count(*) FROM batch WHERE size > 1"), {})


def explained(engine: Engine, statement: Any, parameters: dict[str, Any]) -> str:
    """The plan of a statement where a scan of a whole table is the last resort, as it is of a large one."""
    if isinstance(statement, TextClause):
        statement = statement.bindparams(**parameters)
    elif parameters:
        statement = statement.params(**parameters)
    sql = statement.compile(engine, compile_kwargs={"literal_binds": True})
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        return "\n".join(connection.exec_driver_sql(f"EXPLAIN {sql}").scalars())
