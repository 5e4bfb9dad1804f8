"""Tells accounts, once a month and threshold, that the charges of the month have reached their spend threshold.

What was charged is what usage counts: by the hour, in UTC, in which the sends were accepted.
"""

from sqlalchemy import Date, Engine, cast, func, select, update

from shared import outbox
from shared.db.connection import transaction
from shared.db.tables.accounts import account
from shared.db.tables.usage import usage
from shared.lifecycle import EventType

SPEND_SECONDS = 60.0
"""Seconds between checks."""
BEGIN = func.date_trunc("month", func.now(), "UTC")
MONTH = cast(func.timezone("UTC", BEGIN), Date)
CHARGED = (
    select(func.coalesce(func.sum(usage.c.credits), 0))
    .where(usage.c.account_id == account.c.id, usage.c.began_at >= BEGIN)
    .scalar_subquery()
)
REACHED = (
    update(account)
    .where(account.c.spend_told.is_distinct_from(MONTH), account.c.spend_threshold <= CHARGED)
    .values(spend_told=MONTH)
    .returning(account.c.id, MONTH.label("month"), CHARGED.label("credits"), account.c.spend_threshold)
)
"""Of workers that check at once, the second waits for the row, and then finds the month told."""


def report_spending(engine: Engine) -> None:
    """Add an event for each account whose charges have reached its threshold, and which was not told this month."""
    with transaction(engine) as connection:
        for row in connection.execute(REACHED).all():
            told = {"month": f"{row.month:%Y-%m}", "credits": int(row.credits), "spend_threshold": row.spend_threshold}
            outbox.add(connection, row.id, EventType.SPEND_THRESHOLD, told)
