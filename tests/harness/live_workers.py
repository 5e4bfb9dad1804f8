"""Workers that are alive however long a test takes: what they report counts for a few seconds."""

from typing import Any

from sqlalchemy import Engine, func, text
from sqlalchemy.dialects.postgresql import insert

from shared.db.tables.carriers import carrier_report
from tests.harness.sql import Database
from worker.process import WorkerProcess

MINUTE = text("clock_timestamp() + interval '1 minute'")
KEEP = (
    text("UPDATE carrier_report SET reported_at = clock_timestamp() + interval '1 minute'"),
    text("UPDATE carrier_limit SET reported_at = clock_timestamp() + interval '1 hour'"),
    text("UPDATE lease SET held_until = clock_timestamp() + interval '1 minute' WHERE name LIKE 'worker:%'"),
)


def keep_reports(engine: Engine) -> None:
    """Let what workers have reported count for a minute, the longest that it can."""
    with engine.begin() as connection:
        for statement in KEEP:
            connection.execute(statement)


def report_carrier(engine: Engine, carrier: str = "main", worker: str = "one", **values: Any) -> None:
    """Store what a worker, which need not exist, reports of a carrier, so that it counts for a minute."""
    report = {"state": "ready", "since": func.now(), "rate": 0, "allowed": 0, "window": 10, "alone": False}
    report |= {"submitted": 0, "throttled": 0, "failed": 0, "reported_at": MINUTE, **values}
    stored = insert(carrier_report).values(carrier=carrier, worker=worker, **report)
    Database(engine).execute(stored.on_conflict_do_update(index_elements=["carrier", "worker"], set_=report))


def report_carriers(worker: WorkerProcess) -> None:
    """Let a worker report its carriers now, and let this count for a minute."""
    worker.carrier_status.refresh()
    keep_reports(worker.engine)
