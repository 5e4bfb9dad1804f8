"""A send goes on after a migration has changed the type of a column that its prepared statement returns."""

from sqlalchemy import text

from tests.harness.service import Service

SENDS = 12
"""Enough that the statement is prepared."""


def test_it_fails_once_at_most(service: Service) -> None:
    assert {service.send().status_code for _ in range(SENDS)} == {200}
    with service.engine.begin() as connection:
        connection.execute(text("ALTER TABLE account ALTER available TYPE integer"))
    statuses = [service.send().status_code for _ in range(6)]
    assert statuses[0] in (200, 503)
    assert statuses[1:] == [200] * 5
