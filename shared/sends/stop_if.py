"""`stop_if`: holds a send when too many of its messages fail.

Failed are messages that the carrier refused or reported as undelivered, among all that it has answered. Checked when a
cycle is settled, and every second because of receipts. Sends without the rule cost nothing.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection

from shared.lifecycle import SendState
from shared.outbox import add_of_sends
from shared.sends import send_states


def stop_failing(connection: Connection, sends: Iterable[UUID]) -> list[UUID]:
    """Hold the sends of which too many messages have failed. Returns those."""
    rows = connection.execute(send_states.HOLD_FAILING, {"ids": sorted(sends)}).all()
    add_of_sends(connection, [(row.account_id, row.id, SendState.HELD) for row in rows])
    return [row.id for row in rows]
