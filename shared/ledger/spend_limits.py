"""Spend limits: credits that an account's sends may reserve per UTC day and month.

Credits count when they are reserved; later releases do not make room again. The statement that accepts a send adds to
the count, under the lock of the account's row, and a check constraint refuses what exceeds the limit, so limits are
exact under concurrency. A period without a limit is not counted.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, text, update

from shared.db.tables.limits import spending
from shared.ledger.ledger import ReserveRefused

Period = Literal["day", "month"]

PERIODS = """
    (VALUES ('day', CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date), {spend_day}),
            ('month', CAST(date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') AS date), {spend_month}))
    AS l (period, begins, most)
"""
"""SQL: the current day and month, and their limits."""

COUNT = f"""
    INSERT INTO spending (account_id, period, begins, credits, most)
    SELECT p.id, l.period, l.begins, p.before - p.available, l.most
      FROM paid p CROSS JOIN LATERAL {PERIODS.format(spend_day="p.spend_day", spend_month="p.spend_month")}
     WHERE l.most IS NOT NULL AND p.before > p.available
    ON CONFLICT (account_id, period, begins)
    DO UPDATE SET credits = spending.credits + EXCLUDED.credits, most = EXCLUDED.most
"""
"""SQL: adds the credits of the accounts in `paid` (id, available, before, spend_day, spend_month) to their counts."""
REFUSAL = "ck_spending_most"
"""The check constraint that refuses a count above its limit."""

CURRENT_SPENDING = text(
    f"""
    SELECT l.period, l.begins, l.most, coalesce(s.credits, 0) AS credits
      FROM account a CROSS JOIN LATERAL {PERIODS.format(spend_day="a.spend_day", spend_month="a.spend_month")}
      LEFT JOIN spending s ON s.account_id = a.id AND s.period = l.period AND s.begins = l.begins
     WHERE a.id = :account
    """
)
"""Uses the periods of the count by which sends are accepted, by the database's clock, so both agree at midnight."""
FORGET = delete(spending).where(spending.c.account_id == bindparam("account"), spending.c.period == bindparam("period"))
CHANGE_MOST = (
    update(spending)
    .where(spending.c.account_id == bindparam("of_account"), spending.c.period == bindparam("of_period"))
    .values(most=func.greatest(bindparam("new_most", type_=BigInteger), spending.c.credits))
)
COUNT_LEDGER = text(
    """
    INSERT INTO spending (account_id, period, begins, credits, most)
    SELECT :account, :period, l.begins, l.credits, GREATEST(:most, l.credits)
      FROM (SELECT b.begins, coalesce(sum(amount), 0) AS credits
              FROM (SELECT CAST(date_trunc(:period, clock_timestamp() AT TIME ZONE 'UTC') AS date) AS begins) AS b
              LEFT JOIN ledger ON account_id = :account AND kind = 'reserve' AND subject_type = 'send'
                              AND created_at >= b.begins AT TIME ZONE 'UTC'
             GROUP BY b.begins) AS l
    """
)
"""Counts what was reserved in the period before it had a limit. What is above the new limit stays, and only further
sends are refused. It reads the account's whole ledger while the account's sends wait."""


class SpendLimitReached(ReserveRefused):
    """A reserve exceeds a spend limit. Nothing was posted."""


class PeriodSpend(NamedTuple):
    """The credits reserved in a period, and the limit; without a limit (None) nothing is counted."""

    period: Period
    begins: date
    most: int | None
    credits: int

    @property
    def ends(self) -> datetime:
        """The beginning of the next period."""
        following = self.begins + timedelta(days=1)
        if self.period == "month":
            following = (self.begins + timedelta(days=31)).replace(day=1)
        return datetime.combine(following, time(), UTC)


def standings(connection: Connection, account_id: int) -> dict[Period, PeriodSpend]:
    """The standings of the current day and month."""
    return {row.period: PeriodSpend(*row) for row in connection.execute(CURRENT_SPENDING, {"account": account_id})}


def change_spend_limit(
    connection: Connection, account_id: int, period: Period, before: int | None, most: int | None
) -> None:
    """Apply a changed limit to the counts: those of a period that had none are initialized from the ledger, and those
    without a limit are deleted. The account must be locked."""
    if before is not None and most is not None:
        connection.execute(CHANGE_MOST, {"of_account": account_id, "of_period": period, "new_most": most})
        return
    values = {"account": account_id, "period": period, "most": most}
    connection.execute(FORGET, values)
    if most is not None:
        connection.execute(COUNT_LEDGER, values)
