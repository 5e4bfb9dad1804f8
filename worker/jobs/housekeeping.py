"""The periodic work of one worker, every ten minutes: deletes old rows, and creates partitions for new ones."""

from collections.abc import Callable
from datetime import timedelta

from sqlalchemy import Delete, Engine, Update, delete, func

from shared.contacts.imports import drop_old
from shared.db.connection import transaction
from shared.db.partitions import make_partitions
from shared.db.tables.accounts import revoked_token
from shared.db.tables.contacts import suppression_change
from shared.db.tables.messages import receipt, unreadable_receipt
from shared.db.tables.rules import capped, quote
from shared.db.tables.running import job_failure, lease, simulated_submit
from shared.db.tables.sends import idempotency
from shared.inbound import end_parts
from shared.people.retention import OLD_OF_PEOPLE
from shared.settings import IDEMPOTENCY_DAYS
from worker.jobs.purge_groups import purge_deleted_groups
from worker.receipts.apply import match_kept
from worker.receipts.match_doubts import resolve_by_receipts

KEPT_FOR = 3 * 86_400.0
"""Seconds for which an unmatched receipt is retried."""
MAX_PAGES_TOTAL = 1_000

PURGES: tuple[Delete | Update, ...] = (
    delete(idempotency).where(idempotency.c.created_at < func.now() - timedelta(days=IDEMPOTENCY_DAYS)),
    delete(revoked_token).where(revoked_token.c.expires_at < func.now()),
    delete(lease).where(lease.c.held_until < func.now() - timedelta(days=1)),
    delete(quote).where(quote.c.expires_at < func.now() - timedelta(hours=1)),
    delete(capped).where(capped.c.at < func.now() - timedelta(days=32)),
    delete(suppression_change).where(suppression_change.c.at < func.now() - timedelta(hours=1)),
    delete(job_failure).where(job_failure.c.failed_at < func.now() - timedelta(days=30)),
    delete(receipt).where(receipt.c.received_at < func.now() - timedelta(days=3)),
    delete(unreadable_receipt).where(unreadable_receipt.c.received_at < func.now() - timedelta(days=7)),
    delete(simulated_submit).where(simulated_submit.c.at < func.now() - timedelta(days=7)),
    *OLD_OF_PEOPLE,
)


def housekeeping(engine: Engine) -> list[Callable[[], object]]:
    """The steps, which are independent of each other."""

    def make_room() -> None:
        with transaction(engine) as connection:
            make_partitions(connection)

    def purge(statement: Delete | Update) -> Callable[[], None]:
        def step() -> None:
            with transaction(engine) as connection:
                connection.execute(statement)

        return step

    return [
        lambda: resolve_by_receipts(engine, newest=KEPT_FOR),
        lambda: match_kept(engine, newest=KEPT_FOR, pages=MAX_PAGES_TOTAL),
        lambda: end_parts(engine),
        make_room,
        lambda: purge_deleted_groups(engine),
        lambda: drop_old(engine),
        *map(purge, PURGES),
    ]
