"""`stop_if`: a send is held when too many of its messages fail.

Of the messages that a carrier has answered for, failed are those that it refused and those that it reported as
undelivered. Looked at when a turn is settled, and each second for what receipts tell; sends without the rule cost
nothing.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection, text

from shared.lifecycle import SendState
from shared.outbox import add_of_sends

STOP = text(
    """
    UPDATE send s
       SET state = 'held', held_by = 'stop_if',
           held_reason = format('%s of %s messages failed; `stop_if` allows a share of %s.', n.failed, n.answered,
                                n.share)
      FROM (SELECT id, failed + undelivered AS failed, sent + delivered + failed + undelivered AS answered,
                   CAST(rules -> 'stop_if' ->> 'over' AS int) AS over,
                   CAST(rules -> 'stop_if' ->> 'failed_share' AS numeric) AS share
              FROM send WHERE id = ANY(:ids) AND rules ? 'stop_if' ORDER BY id FOR UPDATE) AS n
     WHERE s.id = n.id AND s.state IN ('expanding', 'queued', 'sending')
       AND n.answered >= n.over AND n.failed > n.share * n.answered
    RETURNING s.id, s.account_id
    """
)


def stop_failing(connection: Connection, sends: Iterable[UUID]) -> list[UUID]:
    """Hold those of the sends of which too many messages have failed. Returns them."""
    rows = connection.execute(STOP, {"ids": sorted(sends)}).all()
    add_of_sends(connection, [(row.account_id, row.id, SendState.HELD) for row in rows])
    return [row.id for row in rows]
