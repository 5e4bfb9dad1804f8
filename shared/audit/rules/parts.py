"""The class and the SQL fragments that the audit's rules share.

Every statement returns `subject`, `detail` and `account_id`. `:full` says whether to check all sends or only those that
are open or completed within the last `:span`; `:since` is the smallest id of that range. Times are compared with
`now()`, the time of the snapshot.

A message has a row, and is counted at its send, as soon as its result is known. Its credits are settled later, when the
intent of its batch is closed: messages in an open intent are still reserved. A message that was in doubt is settled
separately, with the message as the ledger's subject.
"""

from dataclasses import dataclass
from typing import Final

from shared.lifecycle import CHARGED_STATUSES, STORED_STATUSES
from shared.sends.archived import IS_ARCHIVED
from shared.sends.batch_prices import PRICE


@dataclass(frozen=True, slots=True)
class Rule:
    """An invariant of the database."""

    name: str
    guarantee: str
    """What holds if there is no breach, in one sentence."""
    sql: str
    freezes: bool = False
    """Whether a breach freezes its account."""
    full_only: bool = False


TERMINAL: Final = "('done', 'canceled', 'expired')"
PAID: Final = "(" + ", ".join(f"'{status}'" for status in sorted(CHARGED_STATUSES)) + ")"

SCOPE: Final = """
    scope AS (
        SELECT * FROM send WHERE :full OR completed_at IS NULL OR completed_at > now() - CAST(:span AS interval)
    )"""

BATCHES: Final = f"""{SCOPE}, batch_in_scope AS (
        SELECT b.id, b.send_id, s.account_id, {PRICE} AS price, b.state, b.size, b.next_index, b.intent,
               s.forgotten_at IS NOT NULL OR {IS_ARCHIVED} AS moved,
               coalesce(b.retry_indexes, '{{}}') AS retry_indexes,
               overlay(b.id::text placing 'ffff' from 33)::uuid AS last_id,
               b.size - b.next_index + 1 + coalesce(cardinality(b.retry_indexes), 0) AS remainder
          FROM batch b JOIN scope s ON s.id = b.send_id
    )"""
"""The batches of the sends in scope; their message ids go up to `last_id`.

The rows of `moved` ones were deleted with a forgotten send, or are in the file of their week. Their results remain in
the counters and in the ledger, which other rules check.
"""

ROWS: Final = f"""{BATCHES}, found AS (
        SELECT bs.id AS batch_id, m.id, m.status, m.price,
               bs.intent > 0 AND CASE WHEN cardinality(bs.retry_indexes) > 0
                                     THEN i.index = ANY (bs.retry_indexes[1:bs.intent])
                                     ELSE i.index >= bs.next_index AND i.index < bs.next_index + bs.intent END AS open,
               i.index < bs.next_index AND i.index <> ALL (bs.retry_indexes) AS known
          FROM batch_in_scope bs
          JOIN message m ON m.id > bs.id AND m.id <= bs.last_id
         CROSS JOIN LATERAL (SELECT ('x' || right(m.id::text, 4))::bit(16)::int AS index) AS i
    )"""
"""The message rows of these batches: `open` ones are in an intent, `known` ones are settled; there may be no others."""

LEDGER_SUM: Final = "sum(CASE l.kind WHEN 'reserve' THEN l.amount WHEN 'refund' THEN 0 ELSE -l.amount END)"
COUNTED: Final = " + ".join(f"s.{status}" for status in STORED_STATUSES)
