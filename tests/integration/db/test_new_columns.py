"""The next release adds columns to tables while processes of this one run, with statements that they have prepared."""

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from shared.db.connection import is_outage, is_outage_or_timeout, reading
from shared.db.pools import OVERFLOW
from tests.harness.service import Service
from tests.integration.db.conftest import POOL

OFTEN = 10
"""After five uses, the driver prepares a statement."""
READ_ALL = text("SELECT * FROM kept")


def test_sends_are_read_as_before(service: Service) -> None:
    send = service.send().json["send_id"]
    paths = (f"/sends/{send}", "/sends", "/sends?in_progress=true", f"/sends/{send}/messages", "/limits")
    for path in paths * OFTEN:
        assert service.get(path).status_code == 200, path
    for table in ("send", "batch", "message", "account"):
        service.execute(f"ALTER TABLE {table} ADD COLUMN next_release text")
    try:
        assert {path: service.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)
    finally:
        for table in ("send", "batch", "message", "account"):
            service.execute(f"ALTER TABLE {table} DROP COLUMN next_release")


def test_a_statement_that_is_out_of_date_fails_once(engine: Engine, pool: Engine) -> None:
    """On all connections of the pool together, and as something that can be tried again."""
    open_at_once = [pool.connect().execution_options(isolation_level="AUTOCOMMIT") for _ in range(POOL + OVERFLOW)]
    for connection in open_at_once * OFTEN:
        connection.execute(READ_ALL)
    for connection in open_at_once:
        connection.close()
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE kept ADD COLUMN more int"))
    with pytest.raises(OperationalError) as failed, reading(pool) as connection:
        connection.execute(READ_ALL)
    assert (is_outage_or_timeout(failed.value), is_outage(failed.value)) == (True, False)
    open_at_once = [pool.connect().execution_options(isolation_level="AUTOCOMMIT") for _ in range(POOL + OVERFLOW)]
    for connection in open_at_once:
        assert list(connection.execute(READ_ALL).keys()) == ["id", "more"]
        connection.close()
