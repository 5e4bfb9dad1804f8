"""Workers that are alive however long a test takes: what they report counts for a few seconds."""

from sqlalchemy import Engine, text

from worker.process import WorkerProcess

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


def report_carriers(worker: WorkerProcess) -> None:
    """Let a worker report its carriers now, and let this count for a minute."""
    worker.carrier_status.refresh()
    keep_reports(worker.engine)
