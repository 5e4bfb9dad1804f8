"""Puts the stream into an order again after the database was restored from a dump.

The order of events is that of their transactions' numbers, and a dump that is loaded into another server brings numbers
that this one has not reached: its readers would wait for them, perhaps for years. Such rows get the number of the
transaction that finds them; their own order is then that of their ids, which is that of their time.
"""

from sqlalchemy import Engine, text

from shared.db.connection import transaction
from shared.events.webhooks import LAST

THIS = "CAST(CAST(pg_current_xact_id() AS text) AS bigint)"

EVENTS = text(f"UPDATE event SET xid = {THIS} WHERE xid > {THIS}")
POSITIONS = text(
    f"""
    UPDATE webhook
       SET xid = {THIS},
           event_id = CASE WHEN event_id <> :last THEN event_id
                           ELSE CAST(lpad(to_hex(CAST(1000 * extract(epoch FROM updated_at) AS bigint)), 12, '0')
                                     || repeat('0', 20) AS uuid) END
     WHERE xid > {THIS}
    """
)
"""A position behind all that there was, as a new webhook's, is that of its time then."""


def mend_order(engine: Engine) -> int:
    """Renumber what is from a later transaction than there has been. Returns the events; none, as a rule."""
    with transaction(engine) as connection:
        connection.execute(POSITIONS, {"last": LAST})
        return connection.execute(EVENTS).rowcount
