"""Restores the order of the event stream after the database was restored from a dump.

Events are ordered by transaction id. A dump loaded into another server brings transaction ids that this server has not
reached yet: readers would wait for them, perhaps for years. Such rows get the id of the transaction that finds them;
among themselves they are then ordered by event id, and so by time.
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
"""A position at the end of the stream, as of a new webhook, becomes the position of the webhook's last update."""


def mend_order(engine: Engine) -> int:
    """Renumber rows with a transaction id from the future. Returns the number of events renumbered, normally 0."""
    with transaction(engine) as connection:
        connection.execute(POSITIONS, {"last": LAST})
        return connection.execute(EVENTS).rowcount
