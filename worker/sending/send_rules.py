"""What a send's rules say at the moment of hand-off: it is quiet where its recipients are, or they have had enough."""

from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, text

from shared.db.connection import transaction
from shared.ids import MessageIds
from shared.sends.quiet_hours import next_allowed, zones_of
from worker.sending.claimed_batch import Slice

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
"""Takes a place under the cap for each message that has room, once: one that comes again has its place. Messages that
reached nobody, failed ones and those of ended batches, leave theirs."""


def apply_rules(engine: Engine, slices: list[Slice]) -> bool:
    """Let wait what is quiet, and reject what is too much for its recipients. Costs nothing where no send has rules.

    Returns whether the database was asked.
    """
    asked = False
    for piece in slices:
        if piece.rules is None:
            continue
        if "quiet" in piece.rules:
            _wait_in_quiet_hours(piece)
        if "cap" in piece.rules and not piece.wait:
            asked = True
            with transaction(engine) as connection:
                _reject_beyond_cap(connection, piece)
    return asked


def _wait_in_quiet_hours(piece: Slice) -> None:
    """All recipients of a batch are in the same time zones; one may have been erased since."""
    assert piece.rules is not None
    phone = next((phone for phone in piece.phones if phone.isdigit()), "")
    now = datetime.now(UTC)
    begins, ends = piece.rules["quiet"]
    allowed = next_allowed(zones_of(phone), (begins, ends), now)
    if allowed > now:
        piece.wait = max(1.0, (allowed - now).total_seconds())
        piece.halted = True


def _reject_beyond_cap(connection: Connection, piece: Slice) -> None:
    assert piece.rules is not None
    most, hours = piece.rules["cap"]
    places = [place for place, result in enumerate(piece.results) if result is None]
    ids = dict(zip(places, MessageIds(piece.batch_id, [piece.indexes[place] for place in places]), strict=True))
    connection.execute(LOCK, {"account": piece.account_id})
    values = {
        "account": piece.account_id,
        "lane": piece.lane,
        "ids": list(ids.values()),
        "phones": [int(piece.phones[place]) for place in places],
        "most": most,
        "hours": hours,
    }
    taken = set(connection.execute(TAKE, values).scalars())
    now = str(datetime.now(UTC))
    for place, identifier in ids.items():
        if identifier not in taken:
            piece.reject(place, "frequency_capped", now)
