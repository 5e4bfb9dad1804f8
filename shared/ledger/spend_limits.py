"""Spend limits: credits that an account's sends may reserve per UTC day and month.

Credits count when they are reserved; later releases do not make room again, except of what a group turns out not to
cost, in the period of its reserve. The statement that accepts a send adds to the count, under the lock of the account's
row, and a check constraint refuses what exceeds the limit, so limits are exact under concurrency. A period without a
limit is not counted.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, insert, select, text, update

from shared.db.tables.money import ledger
from shared.db.tables.rules import spending
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.ids import LAST_NUMBER
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
RESERVED_BEFORE = """
    EXISTS (SELECT FROM ledger r WHERE r.subject = {send} AND r.kind = 'reserve'
                AND r.created_at < {begins} AT TIME ZONE 'UTC')
"""
"""SQL: whether credits of a send were reserved before a period, in which its group then frees nothing."""
FREE = text(
    f"""
    UPDATE spending s SET credits = s.credits - :credits
      FROM {PERIODS.format(spend_day=0, spend_month=0)}
     WHERE s.account_id = :account AND s.period = l.period AND s.begins = l.begins
       AND NOT {RESERVED_BEFORE.format(send=":send", begins="l.begins")}
    """
)
"""Takes credits of a send off the counts of the periods in which all of its reserve was counted."""
COUNT_LEDGER = text(
    f"""
    SELECT b.begins, CAST(coalesce(sum(CASE kind WHEN 'reserve' THEN amount ELSE -amount END), 0) AS bigint) AS credits
      FROM (SELECT CAST(date_trunc(:period, clock_timestamp() AT TIME ZONE 'UTC') AS date) AS begins) AS b
      LEFT JOIN ledger e ON account_id = :account AND subject_type = 'send' AND id <= :to
                      AND id > GREATEST(:after, (SELECT max(ledger_id) FROM statement WHERE account_id = :account
                                                    AND counted_to <= b.begins AT TIME ZONE 'UTC'))
                      AND created_at >= b.begins AT TIME ZONE 'UTC'
                      AND (kind = 'reserve' OR kind = 'release' AND step > 0
                           AND NOT {RESERVED_BEFORE.format(send="e.subject", begins="b.begins")})
     GROUP BY b.begins
    """
)
"""Counts what was reserved in the period before it had a limit, without what groups gave back (steps above 0). It reads
a span of the account's ledger, and nothing that the statements of earlier months have counted."""
NOT_IN_FLIGHT = select(func.coalesce(func.max(ledger.c.id), 0)).where(
    ledger.c.account_id == bindparam("account"), ledger.c.created_at < func.now() - timedelta(hours=1)
)
"""Transactions last less than an hour, and the orders of entries by id and by time differ by less."""
Counted = tuple[int, date | None, int]
"""The last entry that was counted, the beginning of the period, and its credits."""
NOT_COUNTED: Counted = (0, None, 0)


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


def free(connection: Connection, account_id: int, send: UUID, credits: int) -> None:
    """Take back what a group sent in this period turned out not to cost. The account must be locked."""
    connection.execute(FREE, {"account": account_id, "send": send, "credits": credits})


def count_ahead(connection: Connection, account_id: int, period: Period) -> Counted:
    """Count a period up to the entries in flight, for which the account need not be locked."""
    connection.execute(ALLOW_LONG_STATEMENTS)
    to = connection.execute(NOT_IN_FLIGHT, {"account": account_id}).scalar_one()
    span = {"account": account_id, "period": period, "after": 0, "to": to}
    return to, *connection.execute(COUNT_LEDGER, span).one()


def change_spend_limit(
    connection: Connection, account_id: int, period: Period, before: int | None, most: int | None, counted: Counted
) -> None:
    """Apply a changed limit to the counts: those of a period that had none are initialized from what is `counted` ahead
    and from the ledger since, and those without a limit are deleted. What is above a new limit stays. The account must
    be locked."""
    if before is not None and most is not None:
        connection.execute(CHANGE_MOST, {"of_account": account_id, "of_period": period, "new_most": most})
        return
    connection.execute(FORGET, {"account": account_id, "period": period})
    if most is not None:
        after, counted_period, ahead = counted
        span = {"account": account_id, "period": period, "after": after, "to": LAST_NUMBER}
        begins, credits = connection.execute(COUNT_LEDGER, span).one()
        credits += ahead if begins == counted_period else 0
        connection.execute(insert(spending).values((account_id, period, begins, credits, max(most, credits))))
