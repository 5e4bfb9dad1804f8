"""Selects and locks the batches that may be claimed next, in fair order."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, TextClause, text

from shared.db.connection import tuples_of
from shared.sends.placeholder_batches import SEGMENTS
from shared.sends.sendable import SENDABLE
from worker.sending.authentication_share import AUTHENTICATION


class Candidate(NamedTuple):
    """A batch that may be claimed."""

    batch_id: UUID
    send_id: UUID
    ahead: int
    """Messages never claimed."""
    retrying: int
    """Messages to send again, before those."""
    rate: int | None
    segments: int
    state: str
    kind: str
    over: str | None
    canary: str | None
    lane: int
    crashes: int
    account_id: int


NEXT = f"""
    SELECT b.id AS batch_id, b.send_id, b.size - b.next_index + 1 AS ahead,
           coalesce(b.portion, cardinality(b.retry), 0) AS retrying, s.rate,
           {SEGMENTS} AS segments, s.state, s.kind, s.rules -> 'stop_if' ->> 'over' AS over,
           s.rules ->> 'canary' AS canary, s.lane, b.crashes,
           b.account_id
      FROM batch b JOIN send s ON s.id = b.send_id
"""
IN_ORDER = "ORDER BY b.turn, b.id LIMIT :candidates FOR UPDATE OF b SKIP LOCKED"

CANDIDATE = text(f"{NEXT} WHERE b.state = 'queued' AND {SENDABLE} {IN_ORDER}")
CANDIDATE_TEST = text(f"{NEXT} WHERE b.state = 'queued' AND s.test AND {SENDABLE} {IN_ORDER}")
CANDIDATE_OF_CARRIER = text(f"{NEXT} WHERE b.state = 'queued' AND b.carrier = :carrier AND {SENDABLE} {IN_ORDER}")

OWED = f"""{NEXT} WHERE b.state = 'queued' AND b.lane = {AUTHENTICATION} AND {SENDABLE} AND b.carrier"""
OWED_IN_ORDER = "ORDER BY b.carrier, b.turn, b.id LIMIT :candidates FOR UPDATE OF b SKIP LOCKED"  # as the index has it
CANDIDATE_OWED = text(f"{OWED} IS NULL {OWED_IN_ORDER}")
CANDIDATE_OWED_OF_CARRIER = text(f"{OWED} = :carrier {OWED_IN_ORDER}")


def lock_candidates(connection: Connection, statement: TextClause, limit: int, carrier: str | None) -> list[Candidate]:
    """Lock up to `limit` candidates. Skips those that another worker has locked."""
    return list(map(Candidate._make, tuples_of(connection, statement, {"candidates": limit, "carrier": carrier})))
