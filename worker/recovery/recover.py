"""Recovers abandoned batches: those whose lease expired because their worker is gone.

Their cycles are ended as a worker ends its own. The watermark tells which messages may have been submitted. Its commit
is asynchronous, so it is trusted only until the database restarts; after that, every message of the intent may have
been submitted.

    with a row                             known: counted and settled
    above the watermark, without a row     not submitted: sent again
    below it, without a row                in doubt: never submitted again, unless its category resends and its send
                                           continues
"""

import time
from collections import Counter
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, func, select, text

from shared.crashpoints import crashpoint
from shared.db.connection import STARTED, transaction
from shared.db.expressions import in_parameter
from shared.db.tables import messages as tables
from shared.ids import MessageIds, index_of
from shared.job_backoff import failures_of, has_failed, is_ready
from shared.job_failures import Job, batch_then_singly
from shared.lifecycle import CHARGED_STATUSES, MessageStatus
from shared.observability import traces
from shared.sends.batch_states import LEASE_OVER
from shared.sends.counters import Changes, count_messages
from shared.sms.countries import PREFIX_DIGITS
from worker.recovery.recovery_trace import trace_recovery
from worker.sending.batch_log import log_recovered
from worker.sending.claim import OF_CLAIM
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.results import in_doubt, write_rows
from worker.sending.settle_rest import Settlement, close_intents, lock_continuing_sends, settlement_of

ABANDONED_BATCHES = text(
    f"""
    SELECT {OF_CLAIM}, b.id, b.crashes, split_part(b.carrier, '/', 1) AS carrier,
           CASE WHEN b.database_started = {STARTED} THEN b.watermark ELSE b.intent END AS maybe_submitted,
           {failures_of("recovery", "b.id")} AS failures
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE b.state = 'sending' AND {LEASE_OVER}
       AND {is_ready("recovery", "b.id")}
       AND {has_failed("recovery", "b.id")} = CAST(:have_failed AS boolean)
     ORDER BY b.id LIMIT :limit FOR UPDATE OF b SKIP LOCKED
    """
)
"""Locks abandoned batches before anything is decided: a worker that comes back late waits, and then finds its epoch
closed. The watermark counts only if Postgres has not restarted since the claim, as the commit that stores it is
asynchronous."""
OWN_COLUMNS = 5
"""After those of OF_CLAIM."""

MESSAGES = tables.message.c
KNOWN = select(MESSAGES.id, MESSAGES.status).where(in_parameter(MESSAGES.id, "ids"))

STOPPED = "worker_stopped"
"""The error of a message that recovery puts in doubt."""

NOW = select(func.clock_timestamp())


def recover(
    engine: Engine,
    carrier_of: Callable[[bool], str],
    limit: int = 50,
    resend_lanes: Collection[int] = (),
    grace: timedelta = timedelta(0),
) -> list[UUID]:
    """Close the intents whose leases expired at least `grace` ago. Returns the recovered batches.

    In `resend_lanes`, messages that may have been submitted are sent again, as far as their attempts allow and if
    their send continues.
    """

    recovered: list[UUID] = []

    def recover_page(job: Job, page: int, have_failed: bool) -> int:
        parameters = {"limit": page, "have_failed": have_failed, "grace": grace}
        batches = _recover(engine, job, carrier_of, parameters, resend_lanes)
        recovered.extend(batches)
        return len(batches)

    batch_then_singly(engine, "recovery", recover_page, limit)
    return recovered


def _recover(
    engine: Engine,
    job: Job,
    carrier_of: Callable[[bool], str],
    parameters: dict[str, Any],
    resend_lanes: Collection[int],
) -> list[UUID]:
    began = time.monotonic()
    with transaction(engine) as connection:
        rows = connection.execute(ABANDONED_BATCHES, parameters).all()
        counted: Changes = {}
        settlements = []
        for row in rows:
            job.begin(row.id, row.account_id, row.failures)
        continuing = lock_continuing_sends(connection, (row.send_id for row in rows))
        for row in rows:
            carrier = row.carrier or carrier_of(row.test)
            may_resend = row.lane in resend_lanes and row.send_id in continuing
            settlement, of_batch = _settlement_of(connection, row, carrier, may_resend)
            settlements.append(settlement)
            for send, statuses in of_batch.items():
                counted.setdefault(send, Counter()).update(statuses)
        close_intents(connection, settlements, counted)
        if rows:
            crashpoint("recover.before_commit")
    if traces.tracer is not None:
        trace_recovery(traces.tracer, rows, settlements, began)
    for row, settlement in zip(rows, settlements, strict=True):
        if row.request_id is not None:
            log_recovered(row, settlement)
    return [row.id for row in rows]


def _settlement_of(connection: Connection, row: Row[Any], carrier: str, may_resend: bool) -> tuple[Settlement, Changes]:
    """The settlement of an intent, and the increments of its send's counters. Records its doubts.

    No message is in doubt before its intent closes.
    """
    batch = ClaimedBatch(*row[:-OWN_COLUMNS])
    ids = list(MessageIds(batch.batch_id, batch.indexes))
    recorded = {index_of(each.id): each.status for each in connection.execute(KNOWN, {"ids": ids})}
    now = str(connection.execute(NOW).scalar_one())
    batch.answer_ms[now] = "NULL"
    for position, index in enumerate(batch.indexes):
        if index in recorded:
            batch.put(position, Result(before_receipts(recorded[index]), None, None, now, 0))
        elif position < row.maybe_submitted:
            batch.put(position, Result(MessageStatus.IN_DOUBT, None, STOPPED, now, batch.attempts + 1))
    batch.unrecorded = [position for position in batch.unrecorded if in_doubt(batch, position)]
    if may_resend:
        batch.resend_doubts()
    counted = write_rows(connection, [batch], carrier)
    prefixes = [batch.phones[position][:PREFIX_DIGITS] for position in batch.unrecorded if not batch.test]
    count_messages(carrier, Counter((MessageStatus.IN_DOUBT, batch.lane, prefix) for prefix in prefixes))
    settlement = settlement_of(batch, wait=0.0)
    settlement.crashes = row.crashes + 1
    return settlement, counted


def before_receipts(status: str) -> MessageStatus:
    """The status with which a row was written. Until its intent is closed, only receipts change it."""
    return MessageStatus.SENT if status in CHARGED_STATUSES else MessageStatus(status)
