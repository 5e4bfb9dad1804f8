"""Rules about usage: the counts of messages, which outlive the messages."""

from typing import Final

from shared.audit.rules.parts import Rule
from shared.lifecycle import STORED_STATUSES
from shared.sends.archived import USAGE_STAYS

_COUNTERS: Final = ", ".join(f"coalesce(sum(s.{status}), 0)" for status in STORED_STATUSES)
_COUNTED: Final = ", ".join(
    f"coalesce(sum(u.messages) FILTER (WHERE u.status = '{status}'), 0)" for status in STORED_STATUSES
)

FINAL_HOURS = f"""
    WITH hours AS (
        SELECT began_at, (lpad(to_hex(ms), 12, '0') || repeat('0', 20))::uuid AS first,
               (lpad(to_hex(ms + 3600000), 12, '0') || repeat('0', 20))::uuid AS last
          FROM usage_hour, CAST(extract(epoch FROM began_at) * 1000 AS bigint) AS ms WHERE final
    )
    SELECT 'hour ' || h.began_at AS subject, CAST(NULL AS bigint) AS account_id,
           format('its sends have %s messages by status and were charged %s credits; counted are %s and %s', s.counters,
                  l.captured, u.counted, u.credits) AS detail
      FROM hours h
     CROSS JOIN LATERAL (SELECT ARRAY[{_COUNTERS}] AS counters FROM send s
                          WHERE s.id >= h.first AND s.id < h.last
                             AND (s.forgotten_at IS NULL OR {USAGE_STAYS})) AS s
     CROSS JOIN LATERAL (SELECT coalesce(sum(l.amount), 0) AS captured
                           FROM send s JOIN batch b ON b.send_id = s.id
                           JOIN ledger l ON l.kind = 'capture' AND l.subject >= b.id
                                AND l.subject <= overlay(b.id::text placing 'ffff' from 33)::uuid
                          WHERE s.id >= h.first AND s.id < h.last
                             AND (s.forgotten_at IS NULL OR {USAGE_STAYS})) AS l
     CROSS JOIN LATERAL (SELECT ARRAY[{_COUNTED}] AS counted, coalesce(sum(u.credits), 0) AS credits FROM usage u
                          WHERE u.began_at = h.began_at AND NOT u.kept) AS u
     WHERE CAST(s.counters AS numeric[]) <> u.counted OR l.captured <> u.credits
"""
"""Hours whose sends cannot change any more, as long as the sends' counters are there to compare."""

RULES: Final = (
    Rule(
        "usage",
        "The usage of a past hour equals the final statuses of its messages, and what was charged for them.",
        FINAL_HOURS,
        full_only=True,
    ),
)
