"""Totals of a send: by multiplication or, if its messages differ, as sums over its batches."""

from typing import Any, Final

from shared.ledger.ledger import REMAINDER
from shared.lifecycle import CHARGED_STATUSES
from shared.sends.placeholder_batches import PRICE

OWN: Final = f"""
    CASE WHEN s.on_unicode IS NOT NULL THEN (
        SELECT json_build_object(
                   'segments', coalesce(sum(b.size * b.segments), 0), 'cost', coalesce(sum(b.size * {PRICE}), 0),
                   'fewest', min(b.segments), 'most', max(b.segments),
                   'never_expanded', (SELECT coalesce(sum(l.amount), 0) FROM ledger l
                                       WHERE l.subject = s.id AND l.kind = 'release' AND l.step = {REMAINDER}),
                   'charged', (SELECT coalesce(sum(l.amount), 0)
                                 FROM batch c
                                 JOIN ledger l ON l.subject >= c.id AND l.kind = 'capture'
                                      AND l.subject <= CAST(overlay(c.id::text placing 'ffff' from 33) AS uuid)
                                WHERE c.send_id = s.id))
          FROM batch b WHERE b.send_id = s.id) END AS own
"""
"""SQL: the totals of a send `s` whose messages differ; null for any other.

`never_expanded` is what was reserved for the contacts of a group that were not expanded when the send ended."""


def totals(row: Any) -> dict[str, Any]:
    """Segments, cost and charged credits of a send. Contacts not expanded count with their reserve."""
    if row.own is None:
        charged = sum(getattr(row, status) for status in CHARGED_STATUSES)
        return {
            "segments": {
                "per_message": row.segments,
                "encoding": row.encoding,
                "total": row.accepted * row.segments,
            },
            "cost": row.accepted * row.price,
            "charged": charged * row.price,
        }
    unexpanded = (row.unexpanded_credits or 0) + row.own["never_expanded"]
    uniform = row.own["fewest"] == row.own["most"] and not unexpanded
    return {
        "segments": {
            "per_message": row.own["most"] if uniform else None,
            "encoding": row.encoding,
            "total": row.own["segments"] + unexpanded,
        },
        "cost": row.own["cost"] + unexpanded,
        "charged": row.own["charged"],
    }
