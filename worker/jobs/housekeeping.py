"""The periodic work of one worker, every ten minutes: deletes old rows, and creates partitions for new ones."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from operator import methodcaller

from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, func, or_

from shared.contacts.imports import drop_old
from shared.db.connection import transaction
from shared.db.delete_rows import delete_where
from shared.db.expressions import first_id_at
from shared.db.partitions import make_partitions
from shared.db.tables.accounts import revoked_token
from shared.db.tables.carriers import carrier_report
from shared.db.tables.contacts import suppression_change
from shared.db.tables.inbound import inbound
from shared.db.tables.messages import receipt, unreadable_receipt
from shared.db.tables.rules import capped, quote
from shared.db.tables.running import job_failure, lease, simulated_submit
from shared.db.tables.sends import idempotency
from shared.db.tables.verifications import verification
from shared.inbound import end_parts
from shared.messages.exports import drop_old_exports
from shared.people.retention import OLD_OF_PEOPLE
from shared.settings import IDEMPOTENCY_DAYS
from shared.verifications import KEPT
from worker.jobs.purge_groups import purge_deleted_groups
from worker.receipts.match import match_unmatched
from worker.receipts.match_doubts import resolve_by_receipts

KEPT_FOR = timedelta(days=3)
"""For how long an unmatched receipt is kept and retried."""
MAX_PAGES_TOTAL = 1_000

NOW = func.now()
ENDS = or_(job_failure.c.set_aside_at.is_(None), job_failure.c.kind == "import")
"""Failed jobs that nobody can have retried: the file of an import is kept no longer either."""
PURGES: tuple[tuple[Table, ColumnElement[bool]], ...] = (
    (idempotency, idempotency.c.created_at < NOW - timedelta(days=IDEMPOTENCY_DAYS)),
    (revoked_token, revoked_token.c.expires_at < NOW),
    (lease, lease.c.held_until < NOW - timedelta(days=1)),
    (carrier_report, carrier_report.c.reported_at < NOW - timedelta(days=1)),
    (quote, quote.c.expires_at < NOW - timedelta(hours=1)),
    (capped, capped.c.at < NOW - timedelta(days=32)),
    (suppression_change, suppression_change.c.at < NOW - timedelta(hours=1)),
    (job_failure, and_(job_failure.c.failed_at < NOW - timedelta(days=30), ENDS)),
    (receipt, receipt.c.received_at < NOW - KEPT_FOR),
    (unreadable_receipt, unreadable_receipt.c.received_at < NOW - timedelta(days=7)),
    (inbound, and_(inbound.c.account_id.is_(None), inbound.c.id < first_id_at(NOW - timedelta(days=90)))),
    (verification, verification.c.expires_at < NOW - KEPT),
    (simulated_submit, simulated_submit.c.at < NOW - timedelta(days=7)),
)
"""Tables, and which of their rows are no longer needed."""


def housekeeping(engine: Engine) -> list[Callable[[], object]]:
    """The steps, which are independent of each other."""

    def do(step: Callable[[Connection], object]) -> None:
        with transaction(engine) as connection:
            step(connection)

    return [
        lambda: resolve_by_receipts(engine, newest=KEPT_FOR.total_seconds()),
        lambda: match_unmatched(engine, newest=KEPT_FOR.total_seconds(), pages=MAX_PAGES_TOTAL),
        lambda: end_parts(engine),
        partial(do, make_partitions),
        lambda: purge_deleted_groups(engine),
        lambda: drop_old(engine),
        lambda: drop_old_exports(engine),
        *(partial(delete_where, engine, table, condition) for table, condition in PURGES),
        *(partial(do, methodcaller("execute", statement)) for statement in OLD_OF_PEOPLE),
    ]
