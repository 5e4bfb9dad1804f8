"""The 402 of a send that costs more than its account has: `low_balance`, or `spend_limit_reached`.

The statement that reserves the credits (api/commit/commit.py) detects this, and raises ReserveRefused or
SpendLimitReached.
"""

from sqlalchemy import Connection, Engine, bindparam, select

from api.commit.draft import Draft
from api.problems import Problem
from shared.db.connection import reading
from shared.db.tables.accounts import TO_SPEND, account
from shared.ids import rfc3339
from shared.ledger.ledger import ReserveRefused
from shared.ledger.spend_limits import Period, PeriodSpend, SpendLimitReached, standings
from shared.plurals import counted

BALANCE = select(TO_SPEND).where(account.c.id == bindparam("account"))
ACCOUNT = select(TO_SPEND.label("balance"), account.c.state).where(account.c.id == bindparam("account"))


def low_balance_or_spend_limit(engine: Engine, draft: Draft, error: ReserveRefused) -> Problem:
    """Why a draft could not be paid for. An account that was suspended meanwhile is a 403."""
    with reading(engine) as connection:
        if isinstance(error, SpendLimitReached):
            return spend_limit_reached(draft.cost, standings(connection, draft.account_id))
        return refused_reserve(connection, draft.account_id, draft.cost)


def refused_reserve(connection: Connection, account_id: int, required: int) -> Problem:
    """Why credits could not be reserved: the 402 for a low balance, or the 403 for an account that is not active."""
    row = connection.execute(ACCOUNT, {"account": account_id}).one()
    if row.state != "active":
        return Problem("account_suspended", "This account may not send at the moment.")
    balance, left = row.balance, max(row.balance, 0)
    return Problem(
        "low_balance",
        f"This send needs {counted(required, 'credit')}; {left:,} {'is' if left == 1 else 'are'} left.",
        required=required,
        balance=balance,
    )


def spend_limit_reached(required: int, standings: dict[Period, PeriodSpend]) -> Problem:
    """The 402 for a spend limit: the day's or the month's, and the month's if both are reached."""
    day, month = standings["day"], standings["month"]
    month_reached = month.most is not None and (day.most is None or month.credits + required > month.most)
    reached = month if month_reached else day
    limit = reached.most or 0
    return Problem(
        "spend_limit_reached",
        f"This send needs {counted(required, 'credit')}, but {reached.credits:,} of the {limit:,} a {reached.period}"
        " are already spent.",
        required=required,
        period=reached.period,
        spend_limit=limit,
        spent=reached.credits,
        resets_at=rfc3339(reached.ends),
    )
