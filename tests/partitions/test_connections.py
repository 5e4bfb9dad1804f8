"""When Postgres cannot be reached any more, both sides end the connection, also if neither has anything to send."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from shared.db.connection import make_engine, reading
from tests.harness.house import wait_until
from tests.harness.servers import make_migrated_postgres
from tests.partitions.hosts import start_postgres, url_at
from tests.partitions.network import Network

pytestmark = pytest.mark.partitions
PATIENCE = 60
"""Seconds. By the defaults of Linux a client would wait for 90 s, and Postgres for two hours."""
SESSIONS = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bulksms-lost'")
RUNNING = text("SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(4)' AND state = 'active'")


def test_a_lost_connection_ends(network: Network, tmp_path: Path) -> None:
    with start_postgres(network, make_migrated_postgres(tmp_path, durable=False).data_dir) as postgres:
        url = url_at(network.address("postgres"), postgres.url)
        beside, lost = make_engine(url), make_engine(url, application="bulksms-lost")

        def count(statement: object) -> int:
            with reading(beside) as connection:
                return int(connection.execute(statement).scalar_one())  # type: ignore[call-overload]

        with network.inside("api"):
            waiting, idle = lost.connect(), lost.connect()
        ended = threading.Event()

        def wait_for_response() -> None:
            with pytest.raises(OperationalError):
                waiting.execute(text("SELECT pg_sleep(4)"))
            ended.set()

        threading.Thread(target=wait_for_response, daemon=True).start()
        wait_until(lambda: count(RUNNING), 10, "the statement")
        network.cut("api", "postgres")
        network.cut("postgres", "api")
        assert ended.wait(PATIENCE), "the client still waits"
        wait_until(lambda: not count(SESSIONS), PATIENCE, "the end of the sessions")
        waiting.invalidate()
        idle.invalidate()
        lost.dispose()
        beside.dispose()
