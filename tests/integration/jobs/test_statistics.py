"""What the sweep does so that plans are not made for a table as it was long ago."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres
from shared.contacts.groups import add_contacts
from tests.harness.database import disposable_database
from tests.harness.service import Service

COUNTED = text("SELECT reltuples, relpages FROM pg_class WHERE oid = 'contact'::regclass")
PHONES = range(254720000000, 254720010000)


@pytest.fixture(name="engine")
def _engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A database without contacts."""
    with disposable_database(postgres_server) as engine:
        yield engine


def test_a_table_that_was_analyzed_while_its_first_rows_were_added_is_analyzed_again(service: Service) -> None:
    """Postgres would expect no rows in it, however many there are."""
    group = UUID(service.new_group([]))
    analyzing = service.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with service.engine.begin() as connection, analyzing:
        add_contacts(connection, group, PHONES)
        analyzing.execute(text("ANALYZE contact"))
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    with service.engine.connect() as connection:
        rows, pages = connection.execute(COUNTED).one()
    assert rows == 0
    assert pages > 40, "it does not grow tenfold any more"
    service.worker.sweeper.recover_and_wake()
    with service.engine.connect() as connection:
        assert connection.execute(COUNTED).one().reltuples == len(PHONES)
