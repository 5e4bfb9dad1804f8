"""Checks opt-outs before each window: once an opt-out is committed, no window with its phone begins.

The list is read when a cycle begins, and again when an account of the cycle has new opt-outs. The statement between two
windows (worker/sending/advance.py) detects these: every opt-out leaves a row in `suppression_change` with its
transaction, and the statement looks for one that the last read could not see. So an opt-out that was committed before
the window is seen either by the read or by the statement.
"""

from collections import defaultdict
from datetime import UTC, datetime

from sqlalchemy import Engine, text

from shared.contacts.suppressions import listed
from shared.db.connection import reading
from shared.lifecycle import LANES
from worker.sending.claimed_batch import ClaimedBatch

LISTS = text(
    """
    SELECT CAST(pg_current_snapshot() AS text) AS snapshot,
           ARRAY(SELECT a.id FROM unnest(CAST(:accounts AS bigint[])) AS a (id)
                  WHERE EXISTS (SELECT FROM suppression s WHERE s.account_id = a.id)) AS having
    """
)


class Suppressions:
    """Drops messages to phones that have opted out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def drop(self, batches: list[ClaimedBatch]) -> str:
        """Reject, free of charge, every message to a suppressed phone that may still leave.

        Returns the database's snapshot: opt-outs that are not visible in it may have been missed.
        """
        accounts = sorted({batch.account_id for batch in batches})
        with reading(self._engine) as connection:
            lists = connection.execute(LISTS, {"accounts": accounts}).one()
            of_one_scope: dict[tuple[int, int, str], list[ClaimedBatch]] = defaultdict(list)
            for batch in batches:
                if batch.account_id in lists.having and batch.unfinished:
                    of_one_scope[batch.account_id, batch.lane, batch.sender_id].append(batch)
            for (account, lane, sender), checked in of_one_scope.items():
                phones = [int(batch.phones[position]) for batch in checked for position in batch.open_positions()]
                suppressed = listed(connection, account, phones, LANES[lane], sender)
                if suppressed:
                    for batch in checked:
                        _reject(batch, suppressed)
        return str(lists.snapshot)


def _reject(batch: ClaimedBatch, suppressed: set[int]) -> None:
    now = str(datetime.now(UTC))
    for position in batch.open_positions():
        if int(batch.phones[position]) in suppressed:
            batch.reject(position, "suppressed", now)
