"""A database that is read-only for some time: everything goes on by itself when it is writable again."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from shared.audit.check import audit
from tests.harness.service import Service

END_OTHERS = """
    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
"""And wait until they have ended."""


@pytest.fixture
def read_only(service: Service) -> Iterator[Engine]:
    """All sessions end, and new ones are read-only."""
    engine = service.engine
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = off")
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        connection.exec_driver_sql(END_OTHERS)
        yield engine
        connection.exec_driver_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        connection.invalidate()


def test_nothing_is_accepted_and_all_goes_on_afterwards(service: Service, read_only: Engine) -> None:
    service.flask.test_client().get("/readyz")  # by a session that was ended
    ready = service.flask.test_client().get("/readyz")
    assert (ready.status_code, "read-only" in ready.json["status"]) == (503, True)
    refused = [service.send(phone=f"25471100000{number}") for number in range(3)]
    assert {response.status_code for response in refused} == {503}
    assert {response.json["code"] for response in refused} == {"unavailable"}
    with read_only.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = off")
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.exec_driver_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    responses = [service.send(phone=f"25471100001{number}").status_code for number in range(4)]
    assert responses[1:] == [200] * 3, "the sessions from before are closed at the first error"
    assert service.flask.test_client().get("/readyz").status_code == 200
    service.deliver_receipts()
    assert audit(service.engine, full=True) == []
