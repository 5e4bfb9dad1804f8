"""The database's ids of a time and of a batch are those that the code makes."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Uuid, bindparam, func, select

from shared.db.expressions import first_id_at, last_message_id
from shared.db.tables.base import MOMENT
from shared.ids import first_id_at as first_id_in_code
from shared.ids import message_id, new_batch_id
from tests.harness.service import Service

AT = datetime(2026, 3, 4, 5, 6, 7, 890_000, UTC)


def test_ids(service: Service) -> None:
    batch = new_batch_id()
    at, of = bindparam("at", AT, MOMENT), bindparam("batch", batch, Uuid)
    with service.engine.connect() as connection:
        statement = select(first_id_at(at), last_message_id(of), func.batch_of(last_message_id(of), type_=Uuid))
        assert tuple(connection.execute(statement).one()) == (
            first_id_in_code(AT),
            message_id(batch, 0xFFFF),
            batch,
        )


def test_a_later_time_has_larger_ids(service: Service) -> None:
    with service.engine.connect() as connection:
        later = select(first_id_at(func.clock_timestamp() + timedelta(days=1)))
        assert connection.execute(later).scalar_one() > new_batch_id()
