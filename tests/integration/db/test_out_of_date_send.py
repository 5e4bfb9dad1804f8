"""A send goes on after a migration has changed the type of a column that its prepared statement returns."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, Engine, text

from shared.db.connection import autocommit, is_outage, is_outage_or_timeout, tuples_of
from shared.db.pools import OVERFLOW
from tests.harness.service import Service
from tests.integration.db.conftest import POOL

SENDS = 12
"""Enough that the statement is prepared."""
POOLS = 2
"""Of the API: for requests on the event loop, and for those in threads."""
LAST = text("SELECT id FROM kept ORDER BY id DESC LIMIT 1")


def in_a_transaction(engine: Engine) -> None:
    with engine.begin() as connection:
        tuples_of(connection, LAST, {})


def by_itself(engine: Engine) -> None:
    with autocommit(engine) as driver:
        driver.execute(LAST.text.encode(), {})


def keyed(number: int) -> dict[str, str]:
    return {"Idempotency-Key": f"out-of-date-{number}"}


def test_sends_fail_once_at_most_in_each_pool(service: Service) -> None:
    assert {service.send().status_code for _ in range(SENDS)} == {200}
    assert {service.send(headers=keyed(number)).status_code for number in range(SENDS)} == {200}
    with service.engine.begin() as connection:
        connection.execute(text("ALTER TABLE account ALTER available TYPE integer"))
    statuses = [service.send(headers=keyed(SENDS + number)).status_code for number in range(6)]
    statuses += [service.send().status_code for _ in range(6)]
    assert set(statuses) <= {200, 503} and statuses[-1] == 200
    assert statuses.count(503) <= POOLS


@pytest.mark.parametrize("run", [in_a_transaction, by_itself])
def test_a_statement_of_the_driver_fails_once_for_all_connections(
    engine: Engine, pool: Engine, run: Callable[[Engine], None]
) -> None:
    """And as something that can be tried again."""
    open_at_once: list[Connection] = [pool.connect() for _ in range(POOL + OVERFLOW)]
    for connection in open_at_once * SENDS:
        with connection.begin():
            tuples_of(connection, LAST, {})
    for connection in open_at_once:
        connection.close()
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE kept ALTER id TYPE integer"))
    with pytest.raises(Exception) as failed:
        run(pool)
    assert (is_outage_or_timeout(failed.value), is_outage(failed.value)) == (True, False)
    open_at_once = [pool.connect() for _ in range(POOL + OVERFLOW)]
    for connection in open_at_once:
        with connection.begin():
            tuples_of(connection, LAST, {})
        connection.close()
