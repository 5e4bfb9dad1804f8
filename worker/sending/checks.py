"""What is checked before messages leave: opt-outs before each window, quiet hours and frequency caps once a cycle.

Once an opt-out is committed, no window with its phone begins. The list is read when a cycle begins, and again when an
account of the cycle has new opt-outs. The statement between two windows (worker/sending/record.py) detects these:
every opt-out leaves a row in `suppression_change` with its transaction, and the statement looks for one that the last
read could not see. So an opt-out that was committed before the window is seen either by the read or by the statement.
"""

import logging
from collections import defaultdict
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, text

from shared.contacts.suppressions import listed
from shared.db.connection import UNAVAILABLE, reading, transaction
from shared.ids import MessageIds
from shared.lifecycle import LANES
from shared.sends.quiet_hours import next_allowed, zones_of
from worker.sending.claimed_batch import ClaimedBatch

log = logging.getLogger(__name__)

LISTS = text(
    """
    SELECT CAST(pg_current_snapshot() AS text) AS snapshot,
           ARRAY(SELECT a.id FROM unnest(CAST(:accounts AS bigint[])) AS a (id)
                  WHERE EXISTS (SELECT FROM suppression s WHERE s.account_id = a.id)
                     OR EXISTS (SELECT FROM erasure e WHERE e.account_id = a.id AND e.completed_at IS NULL)) AS having
    """
)
"""The snapshot and the lists are read by one statement, so every opt-out that it cannot see is newer than the snapshot,
and is found between the windows."""

LOCK_CAPS = text("SELECT pg_advisory_xact_lock(hashtextextended('capped ' || CAST(:account AS text), 0))")
"""One batch of an account at a time counts: two that count at once could both take the last message of a cap."""
_INDEX = "(get_byte(uuid_send(c.message_id), 14) * 256 + get_byte(uuid_send(c.message_id), 15))"
_TRIED = f"{_INDEX} < b.next_index AND {_INDEX} <> ALL (coalesce(b.retry_indexes, '{{}}'))"
TAKE_CAPS = text(
    f"""
    WITH counted AS (
        SELECT w.id, w.phone, w.place, before.has_counted, before.has_begun, before.number AS before
          FROM unnest(CAST(:ids AS uuid[]), CAST(:phones AS bigint[])) WITH ORDINALITY AS w (id, phone, place)
         CROSS JOIN LATERAL (
            SELECT coalesce(bool_or(has_counted), false) AS has_counted,
                   coalesce(sum(ceil(number / parts)), 0) AS number,
                   coalesce(bool_or(part_of = CAST(:part_of AS int[]) AND number % parts > 0
                                    AND last > clock_timestamp() - interval '1 hour'), false) AS has_begun
              FROM (
                SELECT c.part_of, coalesce(c.part_of[2], 1) AS parts, bool_or(c.message_id = w.id) AS has_counted,
                       max(c.at) AS last,
                       CAST(count(*) FILTER (WHERE coalesce(m.status NOT IN ('failed', 'rejected', 'canceled'),
                                                            b.state NOT IN ('canceled', 'expired') OR {_TRIED}))
                            AS numeric) AS number
                  FROM capped c LEFT JOIN message m ON m.id = c.message_id
                  LEFT JOIN batch b ON b.id = batch_of(c.message_id)
                 WHERE c.account_id = :account AND c.lane = :lane AND c.phone = w.phone
                   AND c.at > clock_timestamp() - make_interval(hours => :hours)
                 GROUP BY c.part_of) AS g) AS before
    ), numbered AS (
        SELECT *, row_number() OVER (PARTITION BY phone, has_counted ORDER BY place) AS number FROM counted
    )
    INSERT INTO capped (account_id, lane, phone, message_id, part_of)
    SELECT :account, :lane, phone, id, CAST(:part_of AS int[]) FROM numbered
     WHERE has_counted OR has_begun OR before + number <= :most
        ON CONFLICT (account_id, lane, phone, message_id) DO UPDATE SET at = excluded.at
    RETURNING message_id
    """
)
"""Counts each message against its recipient's cap, and returns those within it. One that was claimed before and came
back unsent is counted again, with the current time. Messages that reached nobody do not count: failed ones and those
that an ended batch had not sent. A message whose row retention or the archive has taken counts if it was tried. The
parts of a long message, each a send of its own, count once: when one is within the cap, so are the others that come
within the hour."""


def drop_suppressed(engine: Engine, batches: list[ClaimedBatch]) -> str:
    """Reject, free of charge, every message that may still leave to a phone that has opted out or is being erased.

    Returns the database's snapshot: opt-outs that are not visible in it may have been missed.
    """
    accounts = sorted({batch.account_id for batch in batches})
    with reading(engine) as connection:
        lists = connection.execute(LISTS, {"accounts": accounts}).one()
        of_one_scope: dict[tuple[int, int, str], list[ClaimedBatch]] = defaultdict(list)
        for batch in batches:
            if batch.account_id in lists.having and batch.unfinished:
                of_one_scope[batch.account_id, batch.lane, batch.sender_id].append(batch)
        for (account, lane, sender), checked in of_one_scope.items():
            phones = [int(batch.phones[position]) for batch in checked for position in batch.open_positions()]
            suppressed = listed(connection, account, phones, LANES[lane], sender)
            if suppressed:
                for batch in checked:
                    _reject(batch, suppressed)
    return str(lists.snapshot)


def _reject(batch: ClaimedBatch, suppressed: set[int]) -> None:
    now = str(datetime.now(UTC))
    for position in batch.open_positions():
        if int(batch.phones[position]) in suppressed:
            batch.reject(position, "suppressed", now)


def filter_recipients(engine: Engine, batches: list[ClaimedBatch]) -> str | None:
    """Reject messages to phones that opted out or have had enough messages, and defer batches in quiet hours.

    Returns the snapshot of the latest read of opt-outs. None if the database does not answer: nothing may leave then.
    """
    try:
        opt_out_snapshot = drop_suppressed(engine, batches)
        if apply_rules(engine, batches):  # it may have waited for locks
            opt_out_snapshot = drop_suppressed(engine, batches)
    except UNAVAILABLE as error:
        log.warning("a cycle submits nothing, as the database does not answer: %s", error)
        return None
    return opt_out_snapshot


def apply_rules(engine: Engine, batches: list[ClaimedBatch]) -> bool:
    """Defer batches in quiet hours, and reject messages beyond a cap. Does nothing for sends without rules.

    Returns whether it used the database.
    """
    database_used = False
    for batch in batches:
        if batch.rules is None:
            continue
        if "quiet" in batch.rules:
            _defer_in_quiet_hours(batch)
        if "cap" in batch.rules and not batch.quiet_seconds:
            database_used = True
            with transaction(engine) as connection:
                _reject_beyond_cap(connection, batch)
    return database_used


def _defer_in_quiet_hours(batch: ClaimedBatch) -> None:
    """Defer the batch, whose recipients are all in the same time zones. Phones may have been erased since."""
    assert batch.rules is not None
    phone = next((phone for phone in batch.phones if phone.isdigit()), "")
    now = datetime.now(UTC)
    begins, ends = batch.rules["quiet"]
    allowed = next_allowed(zones_of(phone), (begins, ends), now)
    if allowed > now:
        batch.quiet_seconds = max(1.0, (allowed - now).total_seconds())
        batch.halted = True


def _reject_beyond_cap(connection: Connection, batch: ClaimedBatch) -> None:
    assert batch.rules is not None
    limit, hours = batch.rules["cap"]
    positions = [position for position, result in enumerate(batch.results) if result is None]
    ids = dict(
        zip(positions, MessageIds(batch.batch_id, [batch.indexes[position] for position in positions]), strict=True)
    )
    long_message = batch.part and batch.part.long_message
    connection.execute(LOCK_CAPS, {"account": batch.account_id})
    values = {
        "account": batch.account_id,
        "lane": batch.lane,
        "ids": list(ids.values()),
        "phones": [int(batch.phones[position]) for position in positions],
        "most": limit,
        "hours": hours,
        "part_of": long_message and list(long_message),
    }
    taken = set(connection.execute(TAKE_CAPS, values).scalars())
    now = str(datetime.now(UTC))
    for position, identifier in ids.items():
        if identifier not in taken:
            batch.reject(position, "frequency_capped", now)
