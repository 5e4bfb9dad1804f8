"""Sends and batches: their credits, rows and counters agree."""

from typing import Final

from shared.audit.rules.parts import COUNTED, LEDGER_SUM, PAID, ROWS, SCOPE, TERMINAL, Rule
from shared.lifecycle import STORED_STATUSES

SEND_RESERVE = f"""
    WITH {ROWS}, unsettled AS (
        SELECT bs.send_id, count(*) FILTER (WHERE f.open AND bs.intent > 0) AS messages,
               sum(f.price) FILTER (WHERE f.status = 'in_doubt' AND f.known AND NOT f.open) AS in_doubt
          FROM found f JOIN batch_in_scope bs ON bs.id = f.batch_id GROUP BY bs.send_id
    ), waiting AS (
        SELECT send_id, sum(price * remainder) FILTER (WHERE state NOT IN ('canceled', 'expired')) AS credits
          FROM batch_in_scope GROUP BY send_id
    )
    SELECT 'send ' || s.id AS subject, s.account_id,
           format('%s credits are reserved; %s are for messages that are not settled', x.reserved, x.needed) AS detail
      FROM scope s
      LEFT JOIN unsettled u ON u.send_id = s.id
      LEFT JOIN waiting w ON w.send_id = s.id
     CROSS JOIN LATERAL (
        SELECT coalesce((SELECT {LEDGER_SUM} FROM ledger l WHERE l.subject = s.id AND l.account_id = s.account_id), 0)
             + coalesce((SELECT {LEDGER_SUM}
                           FROM batch b JOIN ledger l ON l.subject >= b.id AND l.account_id = s.account_id
                                AND l.subject <= overlay(b.id::text placing 'ffff' from 33)::uuid
                          WHERE b.send_id = s.id), 0) AS reserved,
               CASE WHEN s.cost IS NULL
                    THEN s.price * (s.accepted - ({COUNTED}) + s.in_doubt + coalesce(u.messages, 0))
                    ELSE coalesce(s.unexpanded_credits, s.unexpanded * s.price) + coalesce(w.credits, 0)
                         + coalesce(u.in_doubt, 0)
                    END AS needed
     ) AS x
     WHERE x.reserved <> x.needed
"""
"""If texts or prices differ, each batch has a price, and the part not expanded has its own credits; otherwise the price
of the send applies."""

BATCH_ROWS = f"""
    WITH {ROWS}, counted AS (
        SELECT batch_id, count(*) FILTER (WHERE known AND NOT open) AS known,
               count(*) FILTER (WHERE NOT known AND NOT open) AS stray
          FROM found GROUP BY batch_id
    )
    SELECT 'batch ' || bs.id AS subject, bs.account_id,
           format('%s: %s of %s messages have a result, %s rows of these and %s of others', bs.state,
                  bs.size - bs.remainder, bs.size, coalesce(c.known, 0), coalesce(c.stray, 0)) AS detail
      FROM batch_in_scope bs LEFT JOIN counted c ON c.batch_id = bs.id
     WHERE NOT bs.moved AND (coalesce(c.known, 0) <> bs.size - bs.remainder OR coalesce(c.stray, 0) <> 0)
        OR (bs.state = 'done' AND bs.remainder <> 0) OR (bs.state NOT IN {TERMINAL} AND bs.remainder = 0)
"""
"""Of messages below `next_index`, those in `retry_indexes` have no result yet."""

BATCH_MONEY = f"""
    WITH {ROWS}, booked AS (
        SELECT bs.id AS batch_id,
               coalesce(sum(l.amount) FILTER (WHERE l.subject = bs.id AND l.kind = 'capture'), 0) AS captured,
               coalesce(sum(l.amount) FILTER (WHERE l.subject = bs.id AND l.kind = 'release' AND l.step >= 0), 0)
                   AS released,
               coalesce(sum(l.amount) FILTER (WHERE l.subject = bs.id AND l.kind = 'release' AND l.step < 0), 0)
                   AS returned,
               coalesce(array_agg(l.subject) FILTER (WHERE l.subject_type = 'message' AND l.kind <> 'refund'), '{{}}')
                   AS resolved
          FROM batch_in_scope bs LEFT JOIN ledger l ON l.subject >= bs.id AND l.subject <= bs.last_id
         GROUP BY bs.id
    ), due AS (
        SELECT b.batch_id,
               coalesce(sum(f.price) FILTER (WHERE f.status IN {PAID}), 0) AS captured,
               coalesce(sum(f.price) FILTER (WHERE f.status NOT IN {PAID} AND f.status <> 'in_doubt'), 0) AS released
          FROM booked b
          LEFT JOIN found f ON f.batch_id = b.batch_id AND f.known AND NOT f.open AND f.id <> ALL (b.resolved)
         GROUP BY b.batch_id
    )
    SELECT 'batch ' || bs.id AS subject, bs.account_id,
           format('captured %s, released %s, given back unsent %s; by its messages %s, %s and %s', b.captured,
                  b.released, b.returned, d.captured, d.released, x.returned) AS detail
      FROM batch_in_scope bs JOIN booked b ON b.batch_id = bs.id JOIN due d ON d.batch_id = bs.id
     CROSS JOIN LATERAL (SELECT CASE WHEN bs.state IN ('canceled', 'expired') THEN bs.remainder * bs.price ELSE 0 END
                             AS returned) AS x
     WHERE bs.price > 0 AND NOT bs.moved
       AND (b.captured, b.released, b.returned) <> (d.captured, d.released, x.returned)
"""
"""Messages that the ledger settled one by one, after a doubt, are left out on both sides."""

SEND_BATCHES = f"""
    WITH {SCOPE}, batches AS (
        SELECT b.send_id, count(*) FILTER (WHERE b.state NOT IN {TERMINAL}) AS open, sum(b.size) AS size
          FROM batch b JOIN scope s ON s.id = b.send_id GROUP BY b.send_id
    )
    SELECT * FROM (
        SELECT 'send ' || s.id AS subject, s.account_id,
               concat_ws('; ',
                   CASE WHEN x.open <> s.open_batches
                        THEN format('%s open batches are counted, %s are open', s.open_batches, x.open) END,
                   CASE WHEN s.unexpanded <> x.unexpanded
                        THEN format('%s contacts counted as not expanded, %s are not', s.unexpanded, x.unexpanded) END,
                   CASE WHEN (s.completed_at IS NOT NULL) <> x.over
                        THEN format('completed_at is %s, %s batches are open',
                                    coalesce(s.completed_at::text, 'empty'), x.open) END,
                   CASE WHEN (s.state = 'completed' AND s.completed_at IS NULL)
                          OR (s.completed_at IS NOT NULL AND s.state NOT IN ('completed', 'canceled'))
                        THEN format('its state is %s', s.state) END,
                   CASE WHEN x.waiting < 0 OR (x.over AND x.waiting <> 0)
                        THEN format('%s messages wait', x.waiting) END,
                   CASE WHEN s.submitted <> x.sum
                        THEN format('%s recipients were submitted, %s have a result', s.submitted, x.sum) END)
                   AS detail
          FROM scope s
          LEFT JOIN batches b ON b.send_id = s.id
         CROSS JOIN LATERAL (
            SELECT coalesce(b.open, 0) AS open,
                   CASE WHEN s.expanded_to IS NULL THEN 0 ELSE s.accepted - coalesce(b.size, 0) END AS unexpanded,
                   coalesce(b.open, 0) = 0 AND s.expanded_to IS NULL AS over,
                   s.accepted - ({COUNTED}) AS waiting,
                   s.accepted + s.duplicate + s.invalid + s.suppressed + s.removed AS sum
         ) AS x
    ) AS difference
     WHERE detail <> ''
"""
"""A send keeps these numbers so that no reader has to count its batches."""

STOPPED_BATCHES = """
    SELECT 'batch ' || b.id AS subject, b.account_id, format('it is %s and its send is %s', b.state, s.state) AS detail
      FROM send s JOIN batch b ON b.send_id = s.id
     WHERE s.completed_at IS NULL AND s.state IN ('scheduled', 'expanding', 'queued', 'sending')
       AND b.state IN ('paused', 'held')
"""
"""Nothing would ever send such a batch."""

_BY_STATUS = ", ".join(f"count(*) FILTER (WHERE f.status = '{status}') AS {status}" for status in STORED_STATUSES)
_EXACT = [str(status) for status in STORED_STATUSES if status not in ("canceled", "expired")]
"""Counters of rows only; messages left unsent when the send ended are in the other two."""
_DIFFERS = " OR ".join(f"s.{status} <> coalesce(r.{status}, 0)" for status in _EXACT)
_DIFFERENCES = ", ".join(
    f"CASE WHEN s.{status} <> coalesce(r.{status}, 0)"
    f" THEN format('{status} is %s and not %s', s.{status}, coalesce(r.{status}, 0)) END"
    for status in _EXACT
)

SEND_COUNTERS = f"""
    WITH {ROWS}, by_status AS (
        SELECT bs.send_id, {_BY_STATUS}, count(*) AS messages
          FROM found f JOIN batch_in_scope bs ON bs.id = f.batch_id WHERE f.known OR f.open GROUP BY bs.send_id
    ), closed AS (
        SELECT send_id, sum(size) AS size,
               coalesce(sum(remainder) FILTER (WHERE state = 'canceled'), 0) AS canceled,
               coalesce(sum(remainder) FILTER (WHERE state = 'expired'), 0) AS expired
          FROM batch_in_scope GROUP BY send_id
    )
    SELECT 'send ' || s.id AS subject, s.account_id,
           concat_ws(', ',
               format('%s messages have a result in the counters, %s in rows and ended batches', x.counted, x.known),
               {_DIFFERENCES}) AS detail
      FROM scope s
      LEFT JOIN by_status r ON r.send_id = s.id
      LEFT JOIN closed c ON c.send_id = s.id
     CROSS JOIN LATERAL (
        SELECT {COUNTED} AS counted,
               coalesce(r.messages, 0) + coalesce(c.canceled + c.expired, 0)
                   + CASE WHEN s.expanded_to IS NULL THEN s.accepted - coalesce(c.size, 0) ELSE 0 END AS known
     ) AS x
     WHERE s.forgotten_at IS NULL AND NOT EXISTS (SELECT FROM batch_in_scope bs WHERE bs.send_id = s.id AND bs.moved)
       AND (x.counted <> x.known OR {_DIFFERS} OR s.canceled < coalesce(r.canceled, 0) + coalesce(c.canceled, 0)
            OR s.expired < coalesce(r.expired, 0) + coalesce(c.expired, 0))
"""
"""Of sends that still have all rows. Messages left unsent have none, so that two counters have only a lower bound."""

FORGOTTEN = f"""
    WITH {SCOPE}, charged AS (
        SELECT b.send_id, sum(l.amount) FILTER (WHERE l.kind = 'capture') AS captured,
               sum(l.amount) FILTER (WHERE l.kind = 'release') AS released
          FROM scope s JOIN batch b ON b.send_id = s.id
          JOIN ledger l ON l.subject >= b.id AND l.subject <= overlay(b.id::text placing 'ffff' from 33)::uuid
         WHERE s.forgotten_at IS NOT NULL GROUP BY b.send_id
    )
    SELECT 'send ' || s.id AS subject, s.account_id, concat_ws('; ',
               CASE WHEN s.message <> '' OR s.smpp IS NOT NULL THEN 'its text is kept' END,
               CASE WHEN EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.recipients <> '')
                    THEN 'its phones are kept' END,
               CASE WHEN s.completed_at IS NULL OR s.in_doubt > 0 THEN 'it is not over' END,
               CASE WHEN coalesce(c.captured, 0) > s.price * s.accepted
                    THEN format('%s credits were captured for %s messages', c.captured, s.accepted) END) AS detail
      FROM scope s LEFT JOIN charged c ON c.send_id = s.id
     WHERE s.forgotten_at IS NOT NULL
       AND (s.message <> '' OR s.smpp IS NOT NULL
            OR EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.recipients <> '')
            OR s.completed_at IS NULL OR s.in_doubt > 0 OR coalesce(c.captured, 0) > s.price * s.accepted)
"""
"""Its message rows are gone: credits can only be compared with the most that all its messages cost."""

RULES: Final = (
    Rule(
        "send_reserve",
        "A send has reserved exactly the price of its unsettled messages.",
        SEND_RESERVE,
        freezes=True,
    ),
    Rule("batch_rows", "A batch has one message row for each index with a result, and no other.", BATCH_ROWS),
    Rule("batch_money", "A batch captured its charged messages and released the others, each once.", BATCH_MONEY),
    Rule(
        "send_batches",
        "A send is completed as soon as nothing of it is waiting or open.",
        SEND_BATCHES,
    ),
    Rule("stopped_batches", "No batch is paused or held while its send goes on.", STOPPED_BATCHES),
    Rule(
        "forgotten", "A forgotten send is completed, has no text or phone numbers, and was not overcharged.", FORGOTTEN
    ),
    Rule("send_counters", "A send's counters are the counts of its messages by status.", SEND_COUNTERS),
)
