"""Rules about prices: each message costs what the version that was valid for its send says."""

from typing import Final

from shared.audit.rules.parts import SCOPE, Rule
from shared.lifecycle import LANES
from shared.privacy.erasures import ERASED_PHONE
from shared.sends.batch_prices import PRICE, SEGMENTS

BATCH_PRICES = f"""
    WITH {SCOPE}, longest AS MATERIALIZED (
        SELECT version_id, max(length(prefix)) AS digits FROM price
         WHERE version_id IN (SELECT price_version_id FROM scope) GROUP BY version_id
    )
    SELECT 'batch ' || b.id AS subject, s.account_id,
           format('a message of %s segments costs %s; a segment to %s costs %s', {SEGMENTS}, {PRICE}, d.digits,
                  coalesce(x.price::text, 'nothing, as it has no price')) AS detail
      FROM scope s JOIN batch b ON b.send_id = s.id LEFT JOIN longest l ON l.version_id = s.price_version_id
     CROSS JOIN LATERAL (
        SELECT DISTINCT left(phone, l.digits) AS digits
          FROM unnest(CASE WHEN s.price_version_id IS NULL THEN ARRAY['any'] ELSE string_to_array(b.recipients, E'\\n')
                      END) AS phone WHERE phone <> '{ERASED_PHONE}') AS d
     CROSS JOIN LATERAL (
        SELECT CASE WHEN s.price_version_id IS NULL THEN 1 ELSE (
                   SELECT price FROM price p
                    WHERE p.version_id = s.price_version_id
                      AND p.category IN ('', (ARRAY{[str(lane) for lane in LANES]})[s.lane + 1])
                      AND p.prefix = ANY (ARRAY(SELECT left(d.digits, n) FROM generate_series(0, 15) AS n))
                    ORDER BY p.category DESC, length(p.prefix) DESC LIMIT 1) END AS price) AS x
     WHERE {PRICE} IS DISTINCT FROM x.price * {SEGMENTS}
"""
"""Of erased phones, and of forgotten sends, nothing can be said."""

PRICE_VERSIONS = f"""
    WITH {SCOPE}, version AS (
        SELECT id, list_id, valid_from,
               lead(valid_from, 1, 'infinity') OVER (PARTITION BY list_id ORDER BY valid_from, published_at) AS valid_to
          FROM price_version WHERE valid_from IS NOT NULL AND withdrawn_at IS NULL
    ), assigned AS (
        SELECT account_id, list_id, valid_from,
               lead(valid_from, 1, 'infinity') OVER (PARTITION BY account_id ORDER BY valid_from, id) AS valid_to
          FROM price_assignment
    )
    SELECT 'send ' || s.id AS subject, s.account_id,
           format('it has the price version %s, which was not valid for its account',
                  coalesce(s.price_version_id::text, 'of no list')) AS detail
      FROM scope s
     CROSS JOIN LATERAL (SELECT s.created_at - interval '16 min' AS earliest,
                                s.created_at + interval '1 min' AS latest) AS t
     WHERE NOT s.test AND CASE WHEN s.price_version_id IS NULL
                THEN EXISTS (SELECT FROM assigned g JOIN version v ON v.list_id = g.list_id
                              WHERE g.account_id = s.account_id AND g.valid_from < t.earliest AND g.valid_to > t.latest
                                AND v.valid_from < t.earliest)
                ELSE NOT EXISTS (SELECT FROM version v JOIN assigned g ON g.list_id = v.list_id
                                  WHERE v.id = s.price_version_id
                                    AND (g.account_id = s.account_id OR g.account_id IS NULL)
                                    AND v.valid_from <= t.latest AND v.valid_to >= t.earliest
                                    AND g.valid_from <= t.latest AND g.valid_to >= t.earliest)
           END
"""
"""A quote keeps its version for a quarter of an hour, and clocks may differ by a minute. A new sandbox has no list for
some seconds."""

RULES: Final = (
    Rule("batch_prices", "A message costs what its send's prices say for its phone and segments.", BATCH_PRICES),
    Rule("price_versions", "A send has the prices that were valid when it was accepted or quoted.", PRICE_VERSIONS),
)
