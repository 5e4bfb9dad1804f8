"""What the sweep does so that plans are not made for a table as it was long ago."""

from uuid import UUID

from sqlalchemy import text

from shared.contacts.groups import add_contacts
from tests.harness.own_database import own_database
from tests.harness.service import Service

COUNTED = text("SELECT reltuples, relpages FROM pg_class WHERE oid = 'contact'::regclass")
PHONES = range(254720000000, 254720010000)


engine = own_database


def test_a_table_that_was_analyzed_while_its_first_rows_were_added_is_analyzed_again(service: Service) -> None:
    """Postgres would expect no rows in it, however many there are."""
    group = UUID(service.new_group([]))
    analyzing = service.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with service.engine.begin() as connection, analyzing:
        add_contacts(connection, group, PHONES)
        analyzing.execute(text("ANALYZE contact"))
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    rows, pages = service.row(COUNTED)
    assert rows == 0
    assert pages > 40, "it does not grow tenfold any more"
    service.worker.sweeper.recover_and_wake()
    assert service.row(COUNTED).reltuples == len(PHONES)
