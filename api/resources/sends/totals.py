"""Totals of a send: by multiplication or, if its messages differ, as sums over its batches.

A send has a `cost` if its texts or prices differ. Then the ledger tells what it is charged.
"""

from typing import Any, Final

from shared.ledger.ledger import REMAINDER
from shared.lifecycle import CHARGED_STATUSES
from shared.sends.batch_prices import PRICE, SEGMENTS

TOTALS: Final = f"""
    CASE WHEN s.cost IS NOT NULL THEN (
        SELECT CAST(coalesce(sum(l.amount), 0) AS bigint)
          FROM batch c
          JOIN ledger l ON l.subject >= c.id AND l.kind = 'capture'
               AND l.subject <= CAST(overlay(c.id::text placing 'ffff' from 33) AS uuid)
         WHERE c.send_id = s.id) END AS captured,
    CASE WHEN s.cost IS NOT NULL THEN (
        SELECT json_build_object(
                   'messages', coalesce(sum(b.size), 0), 'segments', coalesce(sum(b.size * {SEGMENTS}), 0),
                   'cost', coalesce(sum(b.size * {PRICE}), 0), 'fewest', min({SEGMENTS}), 'most', max({SEGMENTS}),
                   'never_expanded', (SELECT coalesce(sum(l.amount), 0) FROM ledger l
                                       WHERE l.subject = s.id AND l.kind = 'release' AND l.step = {REMAINDER}))
          FROM batch b WHERE b.send_id = s.id) END AS own
"""
"""SQL: the credits charged for a send `s` with a `cost`, and the totals of its batches; otherwise null.

`never_expanded` is what was reserved for the contacts of a group that were not expanded when the send ended."""


def totals(row: Any) -> dict[str, Any]:
    """Segments, cost and charged credits of a send. Contacts not expanded count with their reserve."""
    charged = row.captured
    if charged is None:
        charged = row.price * sum(getattr(row, status) for status in CHARGED_STATUSES)
    if row.own is None:
        return {
            "segments": {
                "per_message": row.segments,
                "encoding": row.encoding,
                "total": row.accepted * row.segments,
            },
            "cost": row.accepted * row.price,
            "charged": charged,
        }
    reserved = row.unexpanded * row.price if row.unexpanded_credits is None else row.unexpanded_credits
    rest = reserved + row.own["never_expanded"]
    unexpanded = row.accepted - row.own["messages"]
    unexpanded_segments = rest if row.price_version_id is None else unexpanded * row.segments
    uniform = row.on_unicode is None or (row.own["fewest"] == row.own["most"] and not unexpanded)
    return {
        "segments": {
            "per_message": (row.own["most"] or row.segments) if uniform else None,
            "encoding": row.encoding,
            "total": row.own["segments"] + unexpanded_segments,
        },
        "cost": row.own["cost"] + rest,
        "charged": charged,
    }
