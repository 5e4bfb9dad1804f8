"""The queries of changes to accepted sends."""

from sqlalchemy import BigInteger, bindparam, func, select, text, update

from shared.db.tables.money import ledger
from shared.db.tables.sends import batch, send
from shared.ledger.spend_limits import COUNT
from shared.sends import batch_states
from shared.sends.batch_prices import PRICE
from shared.sends.requeue import HAS_SENT
from shared.sends.sendable import MESSAGES_LEFT

STATE = select(send.c.state).where(send.c.id == bindparam("send"))
HELD_BY = select(send.c.held_by).where(send.c.id == bindparam("send"), send.c.state == "held")

LOCK_BATCHES = select(batch.c.id).where(batch.c.send_id == bindparam("send")).order_by(batch.c.id).with_for_update()
LOCK_SEND = select(send).where(send.c.id == bindparam("send")).with_for_update()
BATCHES = text(
    f"""
    SELECT count(b.id) AS number,
           coalesce(bool_and(b.{batch_states.NOT_TAKEN} AND b.attempts = 0 AND b.postponed = 0 AND s.resent = 0
                                AND NOT {HAS_SENT}
                             OR b.epoch = 0 AND b.state = 'done'), true) AS untouched
      FROM send s LEFT JOIN batch b ON b.send_id = s.id WHERE s.id = :send
    """
)
"""How many batches a send has, and whether nothing of them was sent or tried. Read when all are locked: a locking
statement sees no message that was committed while it waited.

`next_index` and `retry_indexes` do not tell: routing sets them, too, if a batch goes to several carriers. A batch that
no worker has claimed may be done because its messages were canceled one by one."""
CHANGE = update(send).where(send.c.id == bindparam("send"))
"""Set columns of a send."""

RESERVED = text(
    f"""
    SELECT coalesce((SELECT sum({MESSAGES_LEFT} * {PRICE}) FROM batch b WHERE b.send_id = s.id), 0)
           + coalesce(s.unexpanded_credits, s.unexpanded * s.price)
      FROM send s WHERE s.id = :send
    """
)
"""What is reserved for a send that no worker has begun: a multiple of its segments."""
SCALE_PRICES = (
    update(batch)
    .where(batch.c.send_id == bindparam("send"), batch.c.price.is_not(None))
    .values(price=batch.c.price // bindparam("before", type_=BigInteger) * bindparam("after", type_=BigInteger))
)
"""Another number of segments: what a segment costs stays."""

LAST_STEPS = select(
    func.coalesce(func.max(ledger.c.step), 0).label("reserve"),
    func.coalesce(func.min(ledger.c.step), 0).label("release"),
).where(ledger.c.subject == bindparam("send"))
COUNT_MORE = text(
    f"""
    WITH paid AS (SELECT id, available, available + :more AS before, spend_day, spend_month FROM account WHERE id = :id)
    {COUNT}
    """
)
"""Count credits against the account's spend limits, which a check constraint enforces in the same statement."""
