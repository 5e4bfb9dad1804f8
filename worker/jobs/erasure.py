"""Erases a person's data in one account: the phone, and the messages to and from it. Credits and counts are kept.

Everything that can be erased is erased in one commit, so after a crash it is simply repeated. Open work, such as a
waiting send or a message in doubt, is erased later. Meanwhile the phone is on the opt-out list, so that neither new nor
waiting messages are sent to it. The phone itself is erased last.
"""

import json
from collections import Counter
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from shared.contacts.groups import remove_contacts
from shared.db.encryption_keys import texts_of
from shared.job_failures import FAILURES, IN_BACKOFF, attempt
from shared.lifecycle import BatchState
from shared.privacy.erasures import ERASED, REASON

ENDED = (BatchState.DONE, BatchState.CANCELED, BatchState.EXPIRED)

LONG = text("SET LOCAL statement_timeout = '10min'")
DUE = text(
    f"""
    SELECT id, account_id, phone, waiting, counts, created_at < now() - interval '30 seconds' AS settled,
           {FAILURES.format(kind="erasure", subject="id")} AS failures
      FROM erasure
     WHERE completed_at IS NULL AND due_at <= now() AND NOT {IN_BACKOFF.format(kind="erasure", subject="id")}
     ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    """
)
FIND = text(
    """
    SELECT b.id FROM send s JOIN batch b ON b.send_id = s.id
     WHERE s.account_id = :account AND position(:phone IN b.recipients) > 0
       AND (CAST(:waiting AS uuid[]) IS NULL OR b.id = ANY(:waiting)
            OR s.created_at > (SELECT created_at FROM erasure WHERE id = :erasure) - interval '5 minutes')
    """
)
"""Batches that may contain the phone. Sends accepted around the time of the erasure request are checked each time."""
LOCK_BATCHES = text(
    """
    SELECT b.id, b.send_id, b.state, b.recipients, b.variables,
           EXISTS (SELECT FROM doubt d WHERE d.phone = :phone AND batch_of(d.message_id) = b.id) AS in_doubt
      FROM batch b WHERE b.id = ANY(:ids) ORDER BY b.id FOR UPDATE
    """
)
REWRITE = text("UPDATE batch SET recipients = :recipients, variables = CAST(:variables AS jsonb) WHERE id = :id")
MESSAGES = text(
    """
    UPDATE message m SET phone = 0 FROM unnest(CAST(:batches AS uuid[])) AS b (id)
     WHERE m.id > b.id AND m.id <= CAST(overlay(b.id::text placing 'ffff' from 33) AS uuid) AND m.phone = :phone
    """
)
TEXTS = text(
    """
    UPDATE send SET message = '', reference = NULL, metadata = NULL, request_id = NULL
     WHERE id = ANY(:sends) AND kind = 'single' AND message <> ''
    """
)
GROUPS = text(
    """
    SELECT g.id FROM contact_group g
     WHERE g.account_id = :account AND g.deleted_at IS NULL
       AND EXISTS (SELECT FROM contact c WHERE c.group_id = g.id AND c.phone = :phone) ORDER BY g.id
    """
)
OF_DELETED_GROUPS = text(
    """
    WITH gone AS (
        DELETE FROM contact c USING contact_group g
         WHERE g.account_id = :account AND g.deleted_at IS NOT NULL AND c.group_id = g.id AND c.phone = :phone
        RETURNING c.group_id
    )
    UPDATE contact_group g SET contact_count = g.contact_count - n.contacts
      FROM (SELECT group_id, count(*) AS contacts FROM gone GROUP BY 1) AS n WHERE g.id = n.group_id
    """
)
INBOUND = text("DELETE FROM inbound WHERE account_id = :account AND phone = CAST(:phone AS text)")
PARTS = text(
    """
    DELETE FROM inbound_part p USING sender_id s
     WHERE p.phone IN (CAST(:phone AS text), '+' || :phone) AND s.account_id = :account
       AND lower(s.sender_id) = lower(p.sender_id)
    """
)
EVENTS = text("DELETE FROM event WHERE account_id = :account AND position('\"' || :phone || '\"' IN data::text) > 0")
STORED_RESPONSES = text(
    """
    SELECT path, key, answer FROM idempotency
     WHERE account_id = :account AND position(:phone IN answer) > 0 FOR UPDATE
    """
)
REWRITE_ANSWER = text(
    "UPDATE idempotency SET answer = :answer WHERE account_id = :account AND path = :path AND key = :key"
)
REJECTIONS = text(
    """
    UPDATE send_rejection r
       SET entries = (SELECT jsonb_agg(CASE WHEN :phone IN (e ->> 'phone', e ->> 'suggestion')
                                            THEN (e || '{"phone": null}') - 'suggestion' - 'detail' ELSE e END
                                       ORDER BY place)
                        FROM jsonb_array_elements(r.entries) WITH ORDINALITY AS a (e, place))
      FROM send s
     WHERE s.id = r.send_id AND s.account_id = :account AND position('"' || :phone || '"' IN r.entries::text) > 0
    """
)
IMPORT_ERRORS = text(
    """
    DELETE FROM import_error e USING contact_import i
     WHERE i.account_id = :account AND e.import_id = i.id
       AND position(:phone IN regexp_replace(e.value, '[^0-9]', '', 'g')) > 0
    """
)
LATER = text(
    """
    UPDATE erasure SET waiting = :waiting, counts = CAST(:counts AS jsonb),
                       due_at = now() + LEAST(interval '1 hour', interval '10 seconds' + (now() - created_at) / 5)
     WHERE id = :id
    """
)
KEEP_OPT_OUTS = text(
    """
    INSERT INTO suppression (account_id, phone, reason, created_at, category, sender_id)
    SELECT s.account_id, erased_phone(s.account_id, s.phone, i.erasure_key), s.reason, s.created_at, s.category,
           s.sender_id
      FROM suppression s, installation i
     WHERE s.account_id = :account AND s.phone = CAST(:phone AS bigint) AND s.reason <> :reason
    ON CONFLICT DO NOTHING
    """
)
UNREADABLE = text(
    "DELETE FROM unreadable_receipt WHERE position(convert_to(CAST(:phone AS text), 'UTF8') IN octets) > 0"
)
CAPPED = text("DELETE FROM capped WHERE account_id = :account AND phone = CAST(:phone AS bigint)")
FORGET_OPT_OUTS = text("DELETE FROM suppression WHERE account_id = :account AND phone = CAST(:phone AS bigint)")
COMPLETE = text(
    """
    UPDATE erasure SET phone = NULL, waiting = NULL, counts = CAST(:counts AS jsonb), completed_at = clock_timestamp()
     WHERE id = :id
    """
)
OTHERS = text(
    """
    SELECT EXISTS (SELECT FROM erasure WHERE account_id = :account AND phone = CAST(:phone AS bigint) AND id <> :id)
    """
)


def erase_one(engine: Engine) -> UUID | None:
    """Erase what can be erased for the erasure due longest. Returns its id; None if none is due."""
    with attempt(engine, "erasure") as job, engine.begin() as connection:
        connection.execute(LONG)
        erasure = connection.execute(DUE).one_or_none()
        if erasure is None:
            return None
        job.begin(erasure.id, erasure.account_id, erasure.failures)
        subject = {"account": erasure.account_id, "phone": str(erasure.phone)}
        counts = Counter(erasure.counts)
        waiting = _erase_messages(connection, erasure, subject, counts)
        _erase_elsewhere(connection, subject, counts)
        if waiting or not erasure.settled:
            connection.execute(LATER, {"id": erasure.id, "waiting": waiting, "counts": json.dumps(counts)})
        else:
            _complete(connection, erasure.id, subject, counts)
    return UUID(str(job.subject))


def _erase_messages(
    connection: Connection, erasure: Row[Any], subject: dict[str, Any], counts: Counter[str]
) -> list[UUID]:
    """Erase the phone from ended batches and their messages. Returns the batches that have not ended."""
    parameters = {**subject, "erasure": erasure.id, "waiting": erasure.waiting}
    ids = list(connection.execute(FIND, parameters).scalars())
    rows = connection.execute(LOCK_BATCHES, {"ids": ids, "phone": erasure.phone}).all()
    containing = [row for row in rows if subject["phone"] in row.recipients.split("\n")]
    ready = [row for row in containing if row.state in ENDED and not row.in_doubt]
    for row in ready:
        counts["messages"] += _rewrite(connection, row, subject["phone"])
    batches = {"batches": [row.id for row in ready], "phone": erasure.phone}
    connection.execute(MESSAGES, batches)
    counts["texts"] += connection.execute(TEXTS, {"sends": sorted({row.send_id for row in ready})}).rowcount
    return [row.id for row in containing if row not in ready]


def _rewrite(connection: Connection, row: Row[Any], phone: str) -> int:
    """Remove the phone and its variables from a batch. Returns the number of messages."""
    lines = row.recipients.split("\n")
    indexes = [index for index, line in enumerate(lines) if line == phone]
    texts = texts_of(connection)
    variables = texts.open_json(row.variables, row.id)
    for index in indexes:
        lines[index] = ERASED
        if variables is not None and index < len(variables):
            variables[index] = None
    kept = None if variables is None else texts.seal_json(variables, row.id)
    connection.execute(REWRITE, {"id": row.id, "recipients": "\n".join(lines), "variables": kept})
    return len(indexes)


def _erase_elsewhere(connection: Connection, subject: dict[str, Any], counts: Counter[str]) -> None:
    """Erase the phone from groups, inbound messages, events, stored responses and rejections."""
    number = {"account": subject["account"], "phone": int(subject["phone"])}
    for group in connection.execute(GROUPS, number).scalars().all():
        counts["contacts"] += remove_contacts(connection, group, [number["phone"]])
    connection.execute(OF_DELETED_GROUPS, number)
    counts["inbound"] += connection.execute(INBOUND, subject).rowcount
    for statement in (PARTS, EVENTS, REJECTIONS, IMPORT_ERRORS):
        connection.execute(statement, subject)
    connection.execute(UNREADABLE, {"phone": subject["phone"]})
    for row in connection.execute(STORED_RESPONSES, subject).all():
        response = json.dumps(_without(json.loads(row.answer), subject["phone"]), separators=(",", ":"))
        key = {"account": subject["account"], "path": row.path, "key": row.key}
        connection.execute(REWRITE_ANSWER, {**key, "answer": response})


def _without(answer: Any, phone: str) -> Any:
    """A stored response with the phone replaced by null, including suggestions of it for misspelled numbers."""
    if isinstance(answer, list):
        return [_without(each, phone) for each in answer]
    if not isinstance(answer, dict):
        return None if answer == phone else answer
    if answer.get("suggestion") == phone:
        answer = {**answer, "phone": None, "suggestion": None, "detail": None}
    return {name: _without(value, phone) for name, value in answer.items()}


def _complete(connection: Connection, erasure: UUID, subject: dict[str, Any], counts: Counter[str]) -> None:
    """Complete the erasure: opt-outs are kept as hashes, and nothing else contains the phone."""
    connection.execute(KEEP_OPT_OUTS, {**subject, "reason": REASON})
    if not connection.execute(OTHERS, {**subject, "id": erasure}).scalar():
        connection.execute(FORGET_OPT_OUTS, subject)
        connection.execute(CAPPED, subject)
    connection.execute(COMPLETE, {"id": erasure, "counts": json.dumps(counts)})
