"""Erases a person's data in one account: the phone, and the messages to and from it. Credits and counts are kept.

Everything that can be erased is erased in one commit, so after a crash it is simply repeated. Open work, such as a
waiting send or a message in doubt, is erased later. Meanwhile the phone is on the opt-out list, so that neither new nor
waiting messages are sent to it. The phone itself is erased last. Accounts take turns (worker/jobs/turns.py).
"""

import json
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Engine,
    Row,
    Text,
    Uuid,
    and_,
    any_,
    bindparam,
    cast,
    column,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert

from shared.contacts.groups import remove_contacts
from shared.db.encryption_keys import texts_of
from shared.db.expressions import in_parameter, last_message_id, parameter_rows
from shared.db.tables.accounts import sender_id
from shared.db.tables.contacts import contact, contact_group, contact_import, import_error, suppression
from shared.db.tables.events import event
from shared.db.tables.inbound import inbound, inbound_part
from shared.db.tables.messages import doubt, message, unreadable_receipt
from shared.db.tables.privacy import erasure
from shared.db.tables.rules import capped
from shared.db.tables.running import installation
from shared.db.tables.sends import batch, idempotency, send
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.job_failures import attempt, failures_of
from shared.lifecycle import BatchState
from shared.privacy.erasures import ERASED, REASON
from worker.jobs.turns import next_in_turn, take_turn

ENDED = (BatchState.DONE, BatchState.CANCELED, BatchState.EXPIRED)

IS_DUE = and_(erasure.c.completed_at.is_(None), erasure.c.due_at <= func.now())
DUE = next_in_turn("erasure", erasure.c.id, erasure.c.account_id, IS_DUE, since=erasure.c.due_at)
LOCK = (
    select(*erasure.c["id", "account_id", "phone", "waiting", "counts"])
    .add_columns(
        (erasure.c.created_at < func.now() - timedelta(seconds=30)).label("settled"),
        failures_of("erasure", erasure.c.id).label("failures"),
    )
    .where(erasure.c.id == bindparam("erasure"), IS_DUE)
    .with_for_update(skip_locked=True)
)
ACCOUNT, PHONE = bindparam("account", type_=BigInteger), bindparam("phone", type_=Text)
NUMBER = bindparam("number", type_=BigInteger)
"""The phone as a number."""
QUOTED = literal('"', Text) + PHONE + '"'
"""The phone as it is in JSON."""
WAITING = bindparam("waiting", type_=ARRAY(Uuid))
ASKED_AT = select(erasure.c.created_at).where(erasure.c.id == bindparam("erasure")).scalar_subquery()
FIND = (
    select(batch.c.id)
    .join_from(send, batch, batch.c.send_id == send.c.id)
    .where(
        send.c.account_id == ACCOUNT,
        func.strpos(batch.c.recipients, PHONE) > 0,
        or_(WAITING.is_(None), batch.c.id == any_(WAITING), send.c.created_at > ASKED_AT - timedelta(minutes=5)),
    )
)
"""Batches that may contain the phone. Sends accepted around the time of the erasure request are checked each time."""
IN_DOUBT = exists().where(doubt.c.phone == NUMBER, func.batch_of(doubt.c.message_id) == batch.c.id)
LOCK_BATCHES = (
    select(*batch.c["id", "send_id", "state", "recipients", "variables"])
    .add_columns(IN_DOUBT.label("in_doubt"))
    .where(in_parameter(batch.c.id, "ids"))
    .order_by(batch.c.id)
    .with_for_update()
)
REWRITE = (
    update(batch)
    .where(batch.c.id == bindparam("batch"))
    .values(recipients=bindparam("lines"), variables=cast(bindparam("sealed", type_=Text), JSONB))
)
READY = parameter_rows("ready", column("batch_id", Uuid))
MESSAGES = (
    update(message)
    .where(message.c.id > READY.c.batch_id, message.c.id <= last_message_id(READY.c.batch_id))
    .where(message.c.phone == NUMBER)
    .values(phone=0)
)
TEXTS = (
    update(send)
    .where(in_parameter(send.c.id, "sends"), send.c.kind == "single", send.c.message != "")
    .values(message="", reference=None, metadata=null(), request_id=None, traceparent=None)
)
IS_CONTACT = exists().where(contact.c.group_id == contact_group.c.id, contact.c.phone == NUMBER)
GROUPS = (
    select(contact_group.c.id)
    .where(contact_group.c.account_id == ACCOUNT, contact_group.c.deleted_at.is_(None), IS_CONTACT)
    .order_by(contact_group.c.id)
)
GONE = (
    delete(contact)
    .where(contact_group.c.account_id == ACCOUNT, contact_group.c.deleted_at.is_not(None))
    .where(contact.c.group_id == contact_group.c.id, contact.c.phone == NUMBER)
    .returning(contact.c.group_id)
    .cte("gone")
)
GONE_OF_GROUP = select(GONE.c.group_id, func.count().label("contacts")).group_by(GONE.c.group_id).subquery()
OF_DELETED_GROUPS = (
    update(contact_group)
    .where(contact_group.c.id == GONE_OF_GROUP.c.group_id)
    .values(contact_count=contact_group.c.contact_count - GONE_OF_GROUP.c.contacts)
)
INBOUND = delete(inbound).where(inbound.c.account_id == ACCOUNT, inbound.c.phone == PHONE)
PARTS = delete(inbound_part).where(
    inbound_part.c.phone.in_([PHONE, literal("+", Text) + PHONE]),
    sender_id.c.account_id == ACCOUNT,
    func.lower(sender_id.c.sender_id) == func.lower(inbound_part.c.sender_id),
)
EVENTS = delete(event).where(event.c.account_id == ACCOUNT, func.strpos(cast(event.c.data, Text), QUOTED) > 0)
STORED_RESPONSES = (
    select(idempotency.c.path, idempotency.c.key, idempotency.c.answer)
    .where(idempotency.c.account_id == ACCOUNT, func.strpos(idempotency.c.answer, PHONE) > 0)
    .with_for_update()
)
REWRITE_ANSWER = (
    update(idempotency)
    .where(idempotency.c.account_id == ACCOUNT)
    .where(idempotency.c.path == bindparam("of_path"), idempotency.c.key == bindparam("of_key"))
    .values(answer=bindparam("response"))
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
"""Removes the phone from the rejected recipients that are it or suggest it, in the database: a list may be long."""
IMPORT_ERRORS = delete(import_error).where(
    contact_import.c.account_id == ACCOUNT,
    import_error.c.import_id == contact_import.c.id,
    func.strpos(func.regexp_replace(import_error.c.value, "[^0-9]", "", "g"), PHONE) > 0,
)
OF_ERASURE = erasure.c.id == bindparam("erasure")
AGE = func.now() - erasure.c.created_at
WAIT = func.least(timedelta(hours=1), literal(timedelta(seconds=10)) + AGE.op("/", precedence=8)(5))
LATER = (
    update(erasure)
    .where(OF_ERASURE)
    .values(waiting=bindparam("still_waiting"), counts=bindparam("counted"), due_at=func.now() + WAIT)
)
ERASURE_KEY = select(installation.c.erasure_key).scalar_subquery()
KEEP_OPT_OUTS = (
    insert(suppression)
    .from_select(
        suppression.c.keys(),
        select(
            suppression.c.account_id,
            func.erased_phone(suppression.c.account_id, suppression.c.phone, ERASURE_KEY),
            suppression.c.reason,
            suppression.c.created_at,
            suppression.c.category,
            suppression.c.sender_id,
        ).where(suppression.c.account_id == ACCOUNT, suppression.c.phone == NUMBER, suppression.c.reason != REASON),
    )
    .on_conflict_do_nothing()
)
UNREADABLE = delete(unreadable_receipt).where(
    func.pg_catalog.position(unreadable_receipt.c.octets, func.convert_to(PHONE, "UTF8")) > 0
)
CAPPED = delete(capped).where(capped.c.account_id == ACCOUNT, capped.c.phone == NUMBER)
FORGET_OPT_OUTS = delete(suppression).where(suppression.c.account_id == ACCOUNT, suppression.c.phone == NUMBER)
COMPLETE = (
    update(erasure)
    .where(OF_ERASURE)
    .values(phone=None, waiting=null(), counts=bindparam("counted"), completed_at=func.clock_timestamp())
)
OTHERS = select(
    exists().where(erasure.c.account_id == ACCOUNT, erasure.c.phone == NUMBER, erasure.c.id != bindparam("erasure"))
)


def erase_one(engine: Engine) -> UUID | None:
    """Erase what can be erased for the account whose turn it is. Returns the erasure's id; None if none is due."""
    erasure_id = take_turn(engine, "erasure", DUE)
    if erasure_id is None:
        return None
    with attempt(engine, "erasure") as job, engine.begin() as connection:
        connection.execute(ALLOW_LONG_STATEMENTS)  # searches all batches of an account
        due = connection.execute(LOCK, {"erasure": erasure_id}).one_or_none()
        if due is None:  # taken by another worker since, or no longer open
            return erasure_id
        job.begin(due.id, due.account_id, due.failures)
        subject = {"account": due.account_id, "phone": str(due.phone), "number": due.phone}
        counts = Counter(due.counts)
        waiting = _erase_messages(connection, due, subject, counts)
        _erase_elsewhere(connection, subject, counts)
        if waiting or not due.settled:
            connection.execute(LATER, {"erasure": due.id, "still_waiting": waiting, "counted": counts})
        else:
            _complete(connection, due.id, subject, counts)
    return erasure_id


def _erase_messages(connection: Connection, due: Row[Any], subject: dict[str, Any], counts: Counter[str]) -> list[UUID]:
    """Erase the phone from ended batches and their messages. Returns the batches that have not ended."""
    parameters = {**subject, "erasure": due.id, "waiting": due.waiting}
    ids = list(connection.execute(FIND, parameters).scalars())
    rows = connection.execute(LOCK_BATCHES, {**subject, "ids": ids}).all()
    containing = [row for row in rows if subject["phone"] in row.recipients.split("\n")]
    ready = [row for row in containing if row.state in ENDED and not row.in_doubt]
    for row in ready:
        counts["messages"] += _rewrite(connection, row, subject["phone"])
    connection.execute(MESSAGES, {"batch_id": [row.id for row in ready], "number": due.phone})
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
    connection.execute(REWRITE, {"batch": row.id, "lines": "\n".join(lines), "sealed": kept})
    return len(indexes)


def _erase_elsewhere(connection: Connection, subject: dict[str, Any], counts: Counter[str]) -> None:
    """Erase the phone from groups, inbound messages, events, stored responses and rejections."""
    for group in connection.execute(GROUPS, subject).scalars().all():
        counts["contacts"] += remove_contacts(connection, group, [subject["number"]])
    connection.execute(OF_DELETED_GROUPS, subject)
    counts["inbound"] += connection.execute(INBOUND, subject).rowcount
    for statement in (PARTS, EVENTS, REJECTIONS, IMPORT_ERRORS, UNREADABLE):
        connection.execute(statement, subject)
    for row in connection.execute(STORED_RESPONSES, subject).all():
        response = json.dumps(_without(json.loads(row.answer), subject["phone"]), separators=(",", ":"))
        key = {"account": subject["account"], "of_path": row.path, "of_key": row.key}
        connection.execute(REWRITE_ANSWER, {**key, "response": response})


def _without(answer: Any, phone: str) -> Any:
    """A stored response with the phone replaced by null, including suggestions of it for misspelled numbers."""
    if isinstance(answer, list):
        return [_without(each, phone) for each in answer]
    if not isinstance(answer, dict):
        return None if answer == phone else answer
    if answer.get("suggestion") == phone:
        answer = {**answer, "phone": None, "suggestion": None, "detail": None}
    return {name: _without(value, phone) for name, value in answer.items()}


def _complete(connection: Connection, erasure_id: UUID, subject: dict[str, Any], counts: Counter[str]) -> None:
    """Complete the erasure: opt-outs are kept as hashes, and nothing else contains the phone."""
    connection.execute(KEEP_OPT_OUTS, subject)
    if not connection.execute(OTHERS, {**subject, "erasure": erasure_id}).scalar():
        connection.execute(FORGET_OPT_OUTS, subject)
        connection.execute(CAPPED, subject)
    connection.execute(COMPLETE, {"erasure": erasure_id, "counted": counts})
