"""Applies a send's rules before its messages leave: quiet hours and frequency caps."""

from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, text

from shared.db.connection import transaction
from shared.ids import MessageIds
from shared.sends.quiet_hours import next_allowed, zones_of
from worker.sending.claimed_batch import ClaimedBatch

LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('capped ' || CAST(:account AS text), 0))")
TAKE = text(
    """
    WITH wanted AS (
        SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:phones AS bigint[])) WITH ORDINALITY AS w (id, phone, place)
    ), before AS (
        SELECT c.phone, c.message_id,
               c.at > clock_timestamp() - make_interval(hours => :hours)
               AND coalesce(m.status NOT IN ('failed', 'rejected', 'canceled'),
                            b.state NOT IN ('canceled', 'expired'), false) AS counts
          FROM (SELECT DISTINCT phone FROM wanted) AS p
          JOIN capped c ON c.account_id = :account AND c.lane = :lane AND c.phone = p.phone
          LEFT JOIN message m ON m.id = c.message_id
          LEFT JOIN batch b ON b.id = batch_of(c.message_id)
    ), new AS (
        SELECT w.id, w.phone, row_number() OVER (PARTITION BY w.phone ORDER BY w.place) AS number
          FROM wanted w WHERE NOT EXISTS (SELECT FROM before b WHERE b.message_id = w.id)
    ), taken AS (
        INSERT INTO capped (account_id, lane, phone, message_id)
        SELECT :account, :lane, n.phone, n.id FROM new n
         WHERE n.number + (SELECT count(*) FROM before b WHERE b.phone = n.phone AND b.counts) <= :most
        RETURNING message_id
    )
    SELECT message_id AS id FROM taken
     UNION ALL
    SELECT w.id FROM wanted w JOIN before b ON b.message_id = w.id
    """
)
"""Counts each message against its recipient's cap once, and returns those within it. Messages that reached nobody do
not count: failed ones and those of ended batches."""


def apply_rules(engine: Engine, batches: list[ClaimedBatch]) -> bool:
    """Defer batches in quiet hours, and reject messages beyond a cap. Does nothing for sends without rules.

    Returns whether it used the database.
    """
    database_used = False
    for batch in batches:
        if batch.rules is None:
            continue
        if "quiet" in batch.rules:
            _wait_in_quiet_hours(batch)
        if "cap" in batch.rules and not batch.wait:
            database_used = True
            with transaction(engine) as connection:
                _reject_beyond_cap(connection, batch)
    return database_used


def _wait_in_quiet_hours(batch: ClaimedBatch) -> None:
    """Defer the batch, whose recipients are all in the same time zones. Phones may have been erased since."""
    assert batch.rules is not None
    phone = next((phone for phone in batch.phones if phone.isdigit()), "")
    now = datetime.now(UTC)
    begins, ends = batch.rules["quiet"]
    allowed = next_allowed(zones_of(phone), (begins, ends), now)
    if allowed > now:
        batch.wait = max(1.0, (allowed - now).total_seconds())
        batch.halted = True


def _reject_beyond_cap(connection: Connection, batch: ClaimedBatch) -> None:
    assert batch.rules is not None
    limit, hours = batch.rules["cap"]
    positions = [position for position, result in enumerate(batch.results) if result is None]
    ids = dict(
        zip(positions, MessageIds(batch.batch_id, [batch.indexes[position] for position in positions]), strict=True)
    )
    connection.execute(LOCK, {"account": batch.account_id})
    values = {
        "account": batch.account_id,
        "lane": batch.lane,
        "ids": list(ids.values()),
        "phones": [int(batch.phones[position]) for position in positions],
        "most": limit,
        "hours": hours,
    }
    taken = set(connection.execute(TAKE, values).scalars())
    now = str(datetime.now(UTC))
    for position, identifier in ids.items():
        if identifier not in taken:
            batch.reject(position, "frequency_capped", now)
