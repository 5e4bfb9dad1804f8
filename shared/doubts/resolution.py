"""Resolves messages in doubt: by a late response, a receipt, a report, or the end of their validity."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import Boolean, Connection, Engine, Interval, bindparam, func, select, text

from shared.carriers.error_codes import says_opted_out
from shared.carriers.receipts import carrier_reference
from shared.contacts.suppressions import suppress_by_carrier
from shared.db.connection import transaction
from shared.db.tables.messages import doubt
from shared.db.tables.sends import batch
from shared.job_backoff import failures_of, has_failed, is_ready
from shared.job_failures import Job, batch_then_singly
from shared.ledger.ledger import Entry, post
from shared.lifecycle import ALLOWED_TRANSITIONS, CHARGED_STATUSES, MessageStatus, as_sql
from shared.outbox import StatusChange, add_of_messages
from shared.sends.counters import add_to_sends, count_messages
from shared.sms.countries import PREFIX_DIGITS

ResolvedBy = Literal["answer", "receipt", "operator", "reconciliation", "validity"]
"""What resolved a doubt: a late response, a receipt, the operator, a carrier's report, or the end of validity."""


class Resolution(NamedTuple):
    """The final or new status of a message in doubt, and its evidence."""

    message_id: UUID
    status: MessageStatus
    reference: str | None = None
    error: str | None = None
    by: ResolvedBy = "answer"
    carrier_at: datetime | None = None
    """The receipt's time."""
    precision: int | None = None
    """Precision of `carrier_at`, in seconds."""

    @property
    def evidence(self) -> str | None:
        """The carrier's evidence: its message id, or its error code."""
        return None if self.by == "validity" else carrier_reference(self.reference) or self.error


RESOLVE = text(
    f"""
    WITH known AS (
        SELECT m.id, k.*, m.error AS reason,
               m.submitted_at + coalesce(m.answer_ms, 0) * interval '1 millisecond' AS since
          FROM unnest(CAST(:id AS uuid[]), CAST(:status AS message_status[]), CAST(:reference AS text[]),
                      CAST(:error AS text[]), CAST(:by AS text[]), CAST(:evidence AS text[]),
                      CAST(:carrier_at AS timestamptz[]), CAST(:precision AS smallint[]))
               AS k (message, status, reference, error, resolved_by, evidence, carrier_at, precision)
          JOIN message m ON m.id = k.message
         WHERE m.status = 'in_doubt' AND k.status IN ({as_sql(ALLOWED_TRANSITIONS[MessageStatus.IN_DOUBT])})
         ORDER BY m.id FOR UPDATE OF m
    ), resolved AS (
        UPDATE message m
           SET status = k.status, error = k.error, reference = coalesce(m.reference, k.reference),
               finished_at = CASE WHEN k.status = 'sent' THEN NULL ELSE GREATEST(clock_timestamp(), m.submitted_at) END,
               carrier_at = k.carrier_at, carrier_at_precision = k.precision
          FROM known k WHERE m.id = k.id
        RETURNING m.id, m.status, m.price, m.error, m.carrier, m.phone
    ), gone AS (
        DELETE FROM doubt d USING known k WHERE d.message_id = k.id
    ), kept AS (
        INSERT INTO resolved_doubt (message_id, since, reason, resolved_at, resolved_by, evidence, status)
        SELECT id, since, reason, clock_timestamp(), resolved_by, evidence, status FROM known
        ON CONFLICT (message_id) DO NOTHING
    )
    SELECT r.id, r.status, r.price, r.error, r.carrier, r.phone, b.send_id, b.account_id, b.lane
      FROM resolved r JOIN batch b ON b.id = batch_of(r.id) ORDER BY r.id
    """
)
"""Resolves messages that are in doubt. One statement: each is locked, in the order of the ids, and is resolved once."""

RUN_OUT = (
    select(doubt.c.message_id, batch.c.account_id, failures_of("doubt", doubt.c.message_id).label("failures"))
    .join_from(doubt, batch, batch.c.id == func.batch_of(doubt.c.message_id))
    .where(
        doubt.c.expires_at < func.statement_timestamp() - bindparam("grace", type_=Interval),
        is_ready("doubt", doubt.c.message_id),
        has_failed("doubt", doubt.c.message_id) == bindparam("have_failed", type_=Boolean),
    )
    .order_by(doubt.c.expires_at)
    .limit(bindparam("limit"))
)


def resolve(connection: Connection, resolutions: list[Resolution]) -> int:
    """Resolve the messages still in doubt. Capture their credits if a carrier has the message, else release them.

    Records the opt-outs that carriers report.

    Returns how many were resolved; the others were no longer in doubt.
    """
    rows = connection.execute(
        RESOLVE,
        {
            "id": [resolution.message_id for resolution in resolutions],
            "status": [resolution.status for resolution in resolutions],
            "reference": [resolution.reference for resolution in resolutions],
            "error": [resolution.error for resolution in resolutions],
            "by": [resolution.by for resolution in resolutions],
            "evidence": [resolution.evidence for resolution in resolutions],
            "carrier_at": [resolution.carrier_at for resolution in resolutions],
            "precision": [resolution.precision for resolution in resolutions],
        },
    ).all()
    suppress_by_carrier(connection, [(row.account_id, row.phone) for row in rows if says_opted_out(row.error)])
    changes: dict[UUID, Counter[str]] = {}
    for row in rows:
        changes.setdefault(row.send_id, Counter()).update({MessageStatus.IN_DOUBT: -1, row.status: 1})
    add_to_sends(connection, changes)
    add_of_messages(connection, lambda _: [StatusChange.of_message(row) for row in rows])
    post(
        connection,
        [
            Entry(
                row.account_id, "capture" if row.status in CHARGED_STATUSES else "release", row.price, "message", row.id
            )
            for row in rows
        ],
    )
    for carrier, resolved in groupby(sorted(rows, key=attrgetter("carrier")), key=attrgetter("carrier")):
        count_messages(carrier, Counter((row.status, row.lane, str(row.phone)[:PREFIX_DIGITS]) for row in resolved))
    return len(rows)


def expire_doubts(engine: Engine, grace: float, limit: int = 500) -> int:
    """Expire doubts whose validity ended more than `grace` seconds ago, and release their credits. Returns how many."""

    def expire_page(job: Job, page: int, have_failed: bool) -> int:
        with transaction(engine) as connection:
            parameters = {"grace": timedelta(seconds=grace), "limit": page, "have_failed": have_failed}
            rows = connection.execute(RUN_OUT, parameters).all()
            for row in rows:
                job.begin(row.message_id, row.account_id, row.failures)
            if not rows:
                return 0
            expired = [
                Resolution(row.message_id, MessageStatus.EXPIRED, error="no_response", by="validity") for row in rows
            ]
            resolve(connection, expired)
            return len(rows)

    return batch_then_singly(engine, "doubt", expire_page, limit)
