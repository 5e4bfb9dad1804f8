"""The periodic work of one worker, every ten minutes: deletes old rows, and creates partitions for new ones."""

from collections.abc import Callable

from sqlalchemy import Delete, Engine, TextClause, Update, text

from shared.contacts.imports import drop_old
from shared.db.connection import transaction
from shared.db.partitions import make_partitions
from shared.inbound import end_parts
from shared.people.retention import OLD_OF_PEOPLE
from shared.settings import IDEMPOTENCY_DAYS
from worker.jobs.purge_groups import purge_deleted_groups
from worker.receipts.apply import match_kept
from worker.receipts.match_doubts import resolve_by_receipts

KEPT_FOR = 3 * 86_400.0
"""Seconds for which an unmatched receipt is retried."""
MAX_PAGES_TOTAL = 1_000

PURGES: tuple[TextClause | Delete | Update, ...] = (
    text(f"DELETE FROM idempotency WHERE created_at < now() - interval '{IDEMPOTENCY_DAYS} days'"),
    text("DELETE FROM revoked_token WHERE expires_at < now()"),
    text("DELETE FROM lease WHERE held_until < now() - interval '1 day'"),
    text("DELETE FROM quote WHERE expires_at < now() - interval '1 hour'"),
    text("DELETE FROM capped WHERE at < now() - interval '32 days'"),
    text("DELETE FROM suppression_change WHERE at < now() - interval '1 hour'"),
    text("DELETE FROM job_failure WHERE failed_at < now() - interval '30 days'"),
    text("DELETE FROM receipt WHERE received_at < now() - interval '3 days'"),
    text("DELETE FROM unreadable_receipt WHERE received_at < now() - interval '7 days'"),
    text("DELETE FROM simulated_submit WHERE at < now() - interval '7 days'"),
    *OLD_OF_PEOPLE,
)


def housekeeping(engine: Engine) -> list[Callable[[], object]]:
    """The steps, which are independent of each other."""

    def make_room() -> None:
        with transaction(engine) as connection:
            make_partitions(connection)

    def purge(statement: TextClause | Delete | Update) -> Callable[[], None]:
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
