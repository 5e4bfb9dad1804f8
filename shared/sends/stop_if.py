"""`stop_if`: a send is held when too many of its messages fail.

Of the messages that a carrier has answered for, failed are those that it refused and those that it reported as
undelivered. Looked at when a turn is settled, and each second for what receipts tell; sends without the rule cost
nothing.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection

from shared.lifecycle import SendState
from shared.outbox import add_of_sends
from shared.sends import send_states


def stop_failing(connection: Connection, sends: Iterable[UUID]) -> list[UUID]:
    """Hold those of the sends of which too many messages have failed. Returns them."""
    rows = connection.execute(send_states.HOLD_FAILING, {"ids": sorted(sends)}).all()
    add_of_sends(connection, [(row.account_id, row.id, SendState.HELD) for row in rows])
    return [row.id for row in rows]
