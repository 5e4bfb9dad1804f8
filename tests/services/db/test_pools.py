"""What `GET /metrics` says of database pools."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine
from shared.observability.metrics import PROCESS

APPLICATION = "bulksms-pool-test"


def connections(state: str) -> float:
    labels = {"application": APPLICATION, "state": state}
    return PROCESS.get_sample_value("bulksms_database_connections", labels) or 0.0


@pytest.fixture
def engine(postgres_server: Postgres) -> Engine:
    return make_engine(postgres_server.url, 1, APPLICATION)


def test_connections_are_counted_while_they_are_open_and_in_use(engine: Engine) -> None:
    with engine.connect(), engine.connect() as second:
        assert (connections("open"), connections("in_use")) == (2, 2)
        second.invalidate()
        assert (connections("open"), connections("in_use")) == (1, 1)
    with engine.connect():
        assert (connections("open"), connections("in_use")) == (1, 1)
    engine.dispose()
    assert (connections("open"), connections("in_use")) == (0, 0)


def test_a_session_that_the_server_ends_is_no_longer_counted(engine: Engine) -> None:
    with engine.connect() as connection, engine.connect() as other:
        backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        other.execute(text("SELECT pg_terminate_backend(:backend)"), {"backend": backend})
        with pytest.raises(Exception, match=r"terminat|closed"):
            connection.execute(text("SELECT 1"))
    engine.dispose()
    assert (connections("open"), connections("in_use")) == (0, 0)


def test_a_connection_that_cannot_be_opened_again_was_never_in_use(tmp_path: Path) -> None:
    with Postgres(tmp_path / "postgres") as server:
        engine = make_engine(server.start(), 1, APPLICATION)
        with engine.connect() as connection:
            connection.invalidate()
        server.stop("immediate")
        for _ in range(3):
            with pytest.raises(OperationalError):
                engine.connect()
        assert (connections("open"), connections("in_use")) == (0, 0)
        engine.dispose()
