"""A limit on the entries of an account's opt-out list. Opt-outs by STOP are stored even above it."""

import time

from sqlalchemy import Connection, bindparam, func, literal, select

from api.problems import Problem
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.contacts import suppression

MAX_OPT_OUTS = 10_000_000
"""Entries of one account."""
RECOUNT_SECONDS = 600.0
"""How long a count is used: counting ten million entries takes a second."""
MAX_ACCOUNTS = 10_000
"""Accounts whose count is remembered."""

COUNT = select(func.count()).select_from(
    select(literal(1)).where(suppression.c.account_id == bindparam("account")).limit(bindparam("most")).subquery()
)


class OptOutCounts:
    """Counts the opt-outs of accounts.

    The last count and what this process has added since are enough, unless the limit is near: then it counts again.
    Until then, what other processes have added since the last count is not noticed.
    """

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, float]] = {}

    def check(self, connection: Connection, account_id: int, added: int) -> None:
        """Raise Problem suppression_limit if the account has too many, with those that this transaction has added.

        Waits until others that were checked before have committed theirs, so that they are counted.
        """
        one_at_a_time(connection, "suppressions", account_id)
        known, until = self._counts.get(account_id, (0, 0.0))
        known += added
        if known > MAX_OPT_OUTS or time.monotonic() >= until:
            values = {"account": account_id, "most": MAX_OPT_OUTS + 1}
            known = connection.execute(COUNT, values).scalar_one()
            until = time.monotonic() + RECOUNT_SECONDS
        if known > MAX_OPT_OUTS:
            self._counts.pop(account_id, None)
            raise Problem("suppression_limit", f"An account has at most {MAX_OPT_OUTS:,} opt-outs.")
        if len(self._counts) >= MAX_ACCOUNTS:
            self._counts.clear()
        self._counts[account_id] = (known, until)
