"""Restores the order of the event stream after the database was restored from a dump.

Events are ordered by transaction id. A dump loaded into another server brings transaction ids that this server has not
reached yet: readers would wait for them, perhaps for years. Such rows get the id of the transaction that finds them;
among themselves they are then ordered by event id, and so by time.
"""

from sqlalchemy import BigInteger, Engine, Text, case, cast, exists, func, or_, select, update

from shared.db.connection import reading, transaction
from shared.db.expressions import first_id_at
from shared.db.tables.base import THIS_TRANSACTION
from shared.db.tables.events import event
from shared.db.tables.smpp import smpp_credential
from shared.db.tables.webhooks import webhook
from shared.ids import LAST_ID

NEXT = select(cast(cast(func.pg_snapshot_xmax(func.pg_current_snapshot()), Text), BigInteger)).scalar_subquery()
"""Every transaction of this server that the statement can see has a lower id, also if it began during another one."""
READERS = (webhook, smpp_credential)
"""Tables with positions in the stream."""
IS_RESTORED = select(or_(*(exists().where(table.c.xid >= NEXT) for table in (event, *READERS))))
EVENTS = update(event).where(event.c.xid >= NEXT).values(xid=THIS_TRANSACTION)
POSITIONS = [
    update(reader)
    .where(reader.c.xid >= NEXT)
    .values(
        xid=THIS_TRANSACTION,
        event_id=case((reader.c.event_id != LAST_ID, reader.c.event_id), else_=first_id_at(reader.c.updated_at)),
    )
    for reader in READERS
]
"""A position at the end of the stream, as of a new webhook, becomes the position of the reader's last update."""


def mend_order(engine: Engine) -> int:
    """Renumber rows with a transaction id from the future. Returns the number of events renumbered, normally 0.

    It looks first: readers of events would wait for a transaction that writes, however long it looked.
    """
    with reading(engine) as connection:
        if not connection.execute(IS_RESTORED).scalar():
            return 0
    with transaction(engine) as connection:
        for positions in POSITIONS:
            connection.execute(positions)
        return connection.execute(EVENTS).rowcount
