"""Messages that are delivered although their credits were released: a receipt came after their doubt had expired.

They are not charged, so their price is 0 from then on, and the usage counts none of their credits. What their send is
charged no longer follows from its counts, so it gets a `cost`, which tells readers to ask the ledger.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, update

from shared.db.expressions import in_parameter
from shared.db.tables.messages import message
from shared.db.tables.sends import send

FREE = update(message).where(in_parameter(message.c.id, "ids")).values(price=0)
GIVE_COST = (
    update(send)
    .where(in_parameter(send.c.id, "sends"))
    .values(cost=func.coalesce(send.c.cost, send.c.accepted * send.c.price))
)


def leave_uncharged(connection: Connection, messages: Sequence[Row[Any]]) -> None:
    """Note that these messages (id, send_id) are not charged. The transaction has changed them and their sends."""
    if messages:
        connection.execute(FREE, {"ids": [each.id for each in messages]})
        connection.execute(GIVE_COST, {"sends": list({each.send_id for each in messages})})
