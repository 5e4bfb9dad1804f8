"""An hour's messages are counted once, also if its last count ends while retention moves some of them."""

from datetime import UTC, datetime, timedelta
from threading import Thread

from sqlalchemy import text

from shared.db.connection import reading
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from worker.jobs.retention import keep_usage
from worker.jobs.usage import COUNTED, Counts, Key, replace_counts

HOUR = datetime(2026, 11, 1, 10, tzinfo=UTC)
NEW_HOUR = text("INSERT INTO usage_hour (began_at, due_at) VALUES (:hour, now())")
COUNTS = text("SELECT kept, messages FROM usage WHERE began_at = :hour AND messages > 0")


def test_counts_that_are_moved_while_the_hour_becomes_final(service: Service) -> None:
    counts = Counts({Key(service.account_id, "ACME", 1, "TZ", "sent"): (5, 5)}, {})
    last_count = {"hour": HOUR, "sums": [5], "is_final": True, "rest": timedelta(seconds=10)}
    with service.engine.begin() as connection:
        connection.execute(NEW_HOUR, {"hour": HOUR})
        replace_counts(connection, HOUR, counts)

    def move() -> None:
        with service.engine.begin() as connection:
            keep_usage(connection, HOUR, counts)

    moving = Thread(target=move)
    counting = service.engine.connect().execution_options(isolation_level="REPEATABLE READ")
    with counting as connection, connection.begin():
        connection.execute(COUNTED, last_count)
        replace_counts(connection, HOUR, counts)
        moving.start()
        wait_until_somebody_waits(service.engine)
    join_all(moving)
    with reading(service.engine) as connection:
        assert [tuple(row) for row in connection.execute(COUNTS, {"hour": HOUR})] == [(True, 5)]
