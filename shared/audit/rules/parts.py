"""Common parts of the rules.

Every statement returns `subject`, `detail` and `account_id`. `:full` says whether all sends are checked, or only those
that are open or ended within the last `:span`; `:since` is the smallest id of that range. Times are compared with
`now()`, the time of the snapshot.

A message has a row, and counts at its send, as soon as its result is known. Its credits are settled later, when its
batch's intent is closed: until then the rows of an open intent are still reserved. A message that was in doubt is
settled on its own, with the message as the ledger's subject.
"""

from dataclasses import dataclass
from typing import Final

from shared.lifecycle import CHARGED, STORED
from shared.sends.placeholder_batches import PRICE


@dataclass(frozen=True, slots=True)
class Rule:
    """One invariant."""

    name: str
    guarantee: str
    """What a clean result proves, in one line."""
    sql: str
    freezes: bool = False
    """Whether a breach freezes the account."""
    full_only: bool = False


TERMINAL: Final = "('done', 'canceled', 'expired')"
PAID: Final = "(" + ", ".join(f"'{status}'" for status in sorted(CHARGED)) + ")"

SCOPE: Final = """
    scope AS (
        SELECT * FROM send WHERE :full OR completed_at IS NULL OR completed_at > now() - CAST(:span AS interval)
    )"""

PIECES: Final = f"""{SCOPE}, piece AS (
        SELECT b.id, b.send_id, s.account_id, {PRICE} AS price, b.state, b.size, b.next_index, b.intent,
               s.forgotten_at IS NOT NULL AS forgotten,
               coalesce(b.retry, '{{}}') AS retry, overlay(b.id::text placing 'ffff' from 33)::uuid AS last_id,
               b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0) AS remainder
          FROM batch b JOIN scope s ON s.id = b.send_id
    )"""
"""The batches of the checked sends; the ids of their messages go up to `last_id`. The rows of `forgotten` ones are
deleted; their totals remain in counters and ledger, which other rules compare."""

ROWS: Final = f"""{PIECES}, found AS (
        SELECT p.id AS batch_id, m.id, m.status, m.price,
               p.intent > 0 AND CASE WHEN cardinality(p.retry) > 0 THEN i.index = ANY (p.retry[1:p.intent])
                                     ELSE i.index >= p.next_index AND i.index < p.next_index + p.intent END AS open,
               i.index < p.next_index AND i.index <> ALL (p.retry) AS known
          FROM piece p
          JOIN message m ON m.id > p.id AND m.id <= p.last_id
         CROSS JOIN LATERAL (SELECT ('x' || right(m.id::text, 4))::bit(16)::int AS index) AS i
    )"""
"""Their message rows: `open` ones belong to an intent, `known` ones are settled; there must be no others."""

LEDGER_SUM: Final = "sum(CASE l.kind WHEN 'reserve' THEN l.amount WHEN 'refund' THEN 0 ELSE -l.amount END)"
COUNTED: Final = " + ".join(f"s.{status}" for status in STORED)
