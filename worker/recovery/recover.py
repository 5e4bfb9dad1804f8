"""Recovers abandoned batches: those whose lease expired because their worker is gone.

The watermark tells which messages may have been submitted. Its commit is asynchronous, so it is trusted only until the
database restarts; after that, every message of the intent may have been submitted.

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
from shared.db.connection import STARTED, copy_rows, field, transaction
from shared.db.expressions import in_parameter
from shared.db.tables import messages as tables
from shared.ids import index_of, message_id, short_prefix_of
from shared.job_backoff import FAILURES, HAS_FAILED, IS_READY
from shared.job_failures import Job, batch_then_singly
from shared.lifecycle import CHARGED_STATUSES, MessageStatus
from shared.observability import traces
from shared.outbox import StatusChange, add_of_messages
from shared.sends.batch_states import LEASE_OVER
from shared.sends.counters import Changes, count_messages
from shared.sends.placeholder_batches import PRICE, SEGMENTS
from shared.sms.countries import PREFIX_DIGITS
from worker.recovery.recovery_trace import trace_recovery
from worker.sending.batch_log import log_recovered
from worker.sending.claimed_batch import MAX_ATTEMPTS
from worker.sending.rest_of_batch import rest_of, split_postponed
from worker.sending.results import DOUBT_COLUMNS
from worker.sending.settle_complete import COLUMNS
from worker.sending.settle_rest import Settlement, close_intents, lock_continuing_sends

ABANDONED_BATCHES = text(
    f"""
    SELECT b.id, b.send_id, b.account_id, b.epoch, b.size, b.next_index, b.retry_indexes, b.postponed, b.recipients,
           b.intent, b.crashes, b.attempts, s.lane, {SEGMENTS} AS segments, {PRICE} AS price, s.sender_id,
           s.expires_at, s.test, s.request_id, s.traceparent,
           split_part(b.carrier, '/', 1) AS carrier, b.route,
           CASE WHEN b.database_started = {STARTED} THEN b.watermark ELSE b.intent END AS maybe_submitted,
           {FAILURES.format(kind="recovery", subject="b.id")} AS failures
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE b.state = 'sending' AND {LEASE_OVER}
       AND {IS_READY.format(kind="recovery", subject="b.id")}
       AND {HAS_FAILED.format(kind="recovery", subject="b.id")} = CAST(:have_failed AS boolean)
     ORDER BY b.id LIMIT :limit FOR UPDATE OF b SKIP LOCKED
    """
)
"""Locks abandoned batches before anything is decided: a worker that comes back late waits, and then finds its epoch
closed. The watermark counts only if Postgres has not restarted since the claim, as the commit that stores it is
asynchronous."""

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
            settlements.append(_settlement_of(connection, row, carrier, may_resend))
            doubts = settlements[-1].tally[MessageStatus.IN_DOUBT]
            counted.setdefault(row.send_id, Counter())[MessageStatus.IN_DOUBT] += doubts
        close_intents(connection, settlements, counted)
        if rows:
            crashpoint("recover.before_commit")
    if traces.tracer is not None:
        trace_recovery(traces.tracer, rows, settlements, began)
    for row, settlement in zip(rows, settlements, strict=True):
        if row.request_id is not None:
            log_recovered(row, settlement)
    return [row.id for row in rows]


def _settlement_of(connection: Connection, row: Row[Any], carrier: str, resend: bool) -> Settlement:
    """The settlement of an intent. Records its doubts: no message is in doubt before its intent closes."""
    retry_indexes = list(row.retry_indexes or [])
    intent = retry_indexes[: row.intent] if retry_indexes else list(range(row.next_index, row.next_index + row.intent))
    recorded = connection.execute(KNOWN, {"ids": [message_id(row.id, index) for index in intent]}).all()
    tally = Counter(before_receipts(message.status) for message in recorded)
    seen = {index_of(message.id) for message in recorded}
    unknown = [index for index in intent[: row.maybe_submitted] if index not in seen]
    never_submitted = [index for index in intent[row.maybe_submitted :] if index not in seen]
    unclaimed, postponed = split_postponed(retry_indexes[row.intent :], row.postponed)
    resent = unknown if resend and row.attempts + 1 < MAX_ATTEMPTS else []
    if unknown and not resent:
        _put_in_doubt(connection, row, unknown, carrier)
        tally[MessageStatus.IN_DOUBT] += len(unknown)
    rest = rest_of(
        row.size,
        row.next_index + (0 if retry_indexes else row.intent),
        resent + never_submitted + unclaimed,
        postponed,
        row.attempts + bool(resent),
    )
    return Settlement(
        batch_id=row.id,
        send_id=row.send_id,
        account_id=row.account_id,
        epoch=row.epoch,
        lane=row.lane,
        segments=row.segments,
        price=row.price,
        size=row.size,
        next_index=rest.next_index,
        retry_indexes=rest.retry_indexes,
        postponed=rest.postponed,
        tally=tally,
        attempts=rest.attempts,
        retry_delay=rest.pause,
        resent=len(resent),
        crashes=row.crashes + 1,
    )


def before_receipts(status: str) -> str:
    """The status with which a row was written. Until its intent is closed, only receipts change it."""
    return MessageStatus.SENT if status in CHARGED_STATUSES else status


def _put_in_doubt(connection: Connection, row: Row[Any], indexes: list[int], carrier: str) -> None:
    now = connection.execute(NOW).scalar_one()
    recipients = row.recipients.split("\n")
    prefix, route = short_prefix_of(row.id), field(row.route)
    messages, doubts = [], []
    count_messages(
        carrier,
        Counter(("in_doubt", row.lane, recipients[index - 1][:PREFIX_DIGITS]) for index in indexes if not row.test),
    )
    for index in indexes:
        phone = recipients[index - 1]
        name = f"{prefix}{index:04x}"
        messages.append(
            f"{name}\t{phone}\t{now}\t\\N\tin_doubt\t{row.price}\t{row.attempts + 1}\t{carrier}\t{route}\t\\N"
            f"\t{STOPPED}\t\\N\n"
        )
        doubts.append(f"{name}\t{carrier}\t{field(row.sender_id)}\t{phone}\t{now}\t{row.expires_at}\n")
    copy_rows(connection, "message", COLUMNS, "".join(messages))
    copy_rows(connection, "doubt", DOUBT_COLUMNS, "".join(doubts))
    moved = StatusChange(row.account_id, row.send_id, row.id, MessageStatus.IN_DOUBT, indexes, STOPPED)
    add_of_messages(connection, lambda _: [moved])
