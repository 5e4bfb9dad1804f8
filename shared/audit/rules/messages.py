"""Rules about messages, contact groups and idempotency keys."""

from typing import Final

from shared.audit.rules.parts import PAID, ROWS, Rule

CARRIER_REFERENCE = f"""
    WITH {ROWS}
    SELECT 'message ' || f.id AS subject, CAST(NULL AS bigint) AS account_id,
           f.status || ' without a reference of the carrier' AS detail
      FROM found f JOIN message m ON m.id = f.id
     WHERE m.status IN {PAID} AND m.reference IS NULL AND m.price > 0
       AND NOT EXISTS (SELECT FROM ledger l WHERE l.subject = m.id)
"""
"""A message of which the ledger has an entry of its own was in doubt, and may have got no reference."""

REFERENCE_ONCE = """
    WITH twice AS (
        SELECT carrier, reference, phone FROM message
         WHERE id >= CAST(:since AS uuid) AND reference IS NOT NULL AND NOT starts_with(reference, 'to:')
         GROUP BY carrier, reference, phone HAVING count(*) > 1
    ), apart AS (
        SELECT m.id, m.carrier, m.reference,
               m.submitted_at - lag(m.submitted_at) OVER (
                   PARTITION BY m.carrier, m.reference, m.phone ORDER BY m.submitted_at) AS gap
          FROM message m JOIN twice USING (carrier, reference, phone)
         WHERE m.id >= CAST(:since AS uuid)
    )
    SELECT 'message ' || id AS subject, CAST(NULL AS bigint) AS account_id,
           format('the reference %s of %s is that of another message to the phone', reference, carrier) AS detail
      FROM apart WHERE gap < interval '72 hours'
"""
"""After 72 hours a carrier may use its references again. One that begins with `to:` is ours, made of the phone."""

DOUBTS = f"""
    WITH {ROWS}
    SELECT 'message ' || f.id AS subject, CAST(NULL AS bigint) AS account_id, 'in doubt, and not listed' AS detail
      FROM found f WHERE f.status = 'in_doubt' AND NOT EXISTS (SELECT FROM doubt d WHERE d.message_id = f.id)
    UNION ALL
    SELECT 'message ' || d.message_id, NULL, 'listed as in doubt and is ' || coalesce(m.status::text, 'unknown')
      FROM doubt d LEFT JOIN message m ON m.id = d.message_id
     WHERE m.status IS DISTINCT FROM 'in_doubt'
"""
"""Both ways: one that is not listed would never end, and one that is listed wrongly would be looked at for ever."""

ARCHIVES = """
    SELECT 'week of ' || CAST(w.began_at AT TIME ZONE 'UTC' AS date) AS subject, CAST(NULL AS bigint) AS account_id,
           format('%s messages have a result, %s are in its file', r.results, w.messages) AS detail
      FROM archived_week w
     CROSS JOIN LATERAL (
        SELECT coalesce(sum(b.next_index - 1 - coalesce(cardinality(b.retry_indexes), 0)), 0) AS results
          FROM batch b JOIN send s ON s.id = b.send_id
         WHERE b.id >= w.first_id AND b.id < w.end_id
           AND (s.forgotten_at IS NULL OR s.forgotten_at > w.written_at)
     ) AS r
     WHERE w.restored_at IS NULL AND w.messages <> r.results
"""
"""The file still has the messages of sends that were forgotten after it was written."""

GROUPS = """
    SELECT 'group ' || g.id AS subject, g.account_id,
           format('%s contacts counted, last position %s, %s by first digits; %s contacts, last position %s',
                  g.contact_count, g.last_position, p.contacts, c.contacts, c.last) AS detail
      FROM contact_group g
     CROSS JOIN LATERAL (SELECT count(*) AS contacts, coalesce(max(position), 0) AS last FROM contact
                          WHERE group_id = g.id) AS c
     CROSS JOIN LATERAL (SELECT coalesce(sum(contacts), 0) AS contacts FROM contact_group_prefix
                          WHERE group_id = g.id) AS p
     WHERE (:full OR g.updated_at > now() - CAST(:span AS interval))
       AND (g.contact_count <> c.contacts OR p.contacts <> c.contacts OR g.last_position < c.last)
"""
"""The last position may be that of a contact that has been deleted since."""

IDEMPOTENCY = """
    WITH answered AS (
        SELECT account_id, path, key, fingerprint,
               CAST(substring(response FROM '"send_id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"') AS uuid)
                   AS send
          FROM idempotency
         WHERE path LIKE '%/sms/send%' AND (:full OR created_at > now() - CAST(:span AS interval))
    )
    SELECT format('key %s of account %s', a.key, a.account_id) AS subject, a.account_id,
           'its answer names no send of the account' AS detail
      FROM answered a
     WHERE octet_length(a.fingerprint) <> 32
        OR NOT EXISTS (SELECT FROM send s WHERE s.id = a.send AND s.account_id = a.account_id)
    UNION ALL
    SELECT 'send ' || send, min(account_id), format('is the answer of %s keys', count(*))
      FROM answered GROUP BY send HAVING count(*) > 1
"""
"""Of keys for sends only: their stored responses name the send."""

RULES: Final = (
    Rule("carrier_reference", "A message accepted by a carrier has the carrier's reference.", CARRIER_REFERENCE),
    Rule(
        "reference_once",
        "No carrier gives two messages to a phone number the same reference within 72 hours.",
        REFERENCE_ONCE,
    ),
    Rule("doubts", "The messages in doubt are exactly those in the list of doubts.", DOUBTS),
    Rule(
        "archives",
        "The file of an archived week has each message with a result that was not forgotten before.",
        ARCHIVES,
        full_only=True,
    ),
    Rule("groups", "A group's counters match its contacts.", GROUPS),
    Rule("idempotency", "A key names one send of its account, and no send has two keys.", IDEMPOTENCY),
)
