"""Erases a person's data in one account: the phone, and the messages to and from it. Credits and counts are kept.

`worker.jobs.erasure_search` finds it first. Short transactions then erase what can be erased, as readers of events wait
for each (shared/events/stream.py). Messages of batches that no worker has begun are canceled. Open work, such as a
batch under way, a message in doubt or an import, is erased later. Meanwhile nothing is sent to the phone
(shared/contacts/suppressions.py), which is erased last. Accounts take turns (turns.py).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    Row,
    Text,
    Uuid,
    and_,
    bindparam,
    cast,
    column,
    delete,
    exists,
    func,
    literal,
    not_,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.carriers.receipts import BY_PHONE, by_destination
from shared.contacts.groups import remove_contacts
from shared.contacts.suppressions import hash_opt_outs
from shared.db.connection import transaction
from shared.db.encryption_keys import texts_of
from shared.db.expressions import in_parameter, last_message_id, parameter_rows
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.accounts import account, sender_id
from shared.db.tables.contacts import contact, contact_group
from shared.db.tables.inbound import inbound, inbound_part
from shared.db.tables.messages import doubt, erasure, message, message_export, unreadable_receipt
from shared.db.tables.rules import capped
from shared.db.tables.running import simulated_submit
from shared.db.tables.sends import batch, recipient_reference, send
from shared.db.tables.usage import usage_hour
from shared.db.tables.verifications import verification
from shared.ids import message_id
from shared.job_failures import attempt
from shared.lifecycle import BatchState
from shared.messages.exports import delete_exports
from shared.privacy.erasures import ERASED_PHONE, TO_ONE_PHONE
from shared.sends.archived import WAS_ARCHIVED
from shared.sends.batch_states import NOT_TAKEN_STATES
from shared.sends.cancel_message import cancel_one
from worker.jobs.erasure_imports import erase_imports
from worker.jobs.erasure_responses import erase_events, erase_rejections, erase_response, erase_urls
from worker.jobs.erasure_search import ACCOUNT, IS_DUE, LONGEST_WAIT, PHONE, SearchResult, search
from worker.jobs.turns import next_in_turn, take_turn

BATCHES_PER_COMMIT = 100
"""A batch has up to 1,000 recipients; 100 batches take a few tenths of a second."""
EVENTS_PER_COMMIT = 5_000

ENDED = (BatchState.DONE, BatchState.CANCELED, BatchState.EXPIRED)

DUE = next_in_turn("erasure", erasure.c.id, erasure.c.account_id, IS_DUE, since=erasure.c.due_at)
LOCK = (
    select(*erasure.c["id", "account_id", "phone", "counts"])
    .where(erasure.c.id == bindparam("erasure"), IS_DUE)
    .with_for_update(skip_locked=True)
)
NUMBER = bindparam("number", type_=BigInteger)
"""The phone as a number."""
LOCK_BATCHES = (
    select(*batch.c["id", "send_id", "state", "epoch", "recipients", "variables"])
    .where(in_parameter(batch.c.id, "ids"))
    .order_by(batch.c.id)
    .with_for_update()
)
IN_DOUBT = select(func.batch_of(doubt.c.message_id)).where(doubt.c.phone == NUMBER)
"""Executed after LOCK_BATCHES: a subquery there would not see doubts that were committed while it waited."""
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
    .values(phone=0, reference=func.replace(message.c.reference, BY_PHONE + cast(NUMBER, Text), by_destination("0")))
)
REFERENCES = delete(recipient_reference).where(in_parameter(recipient_reference.c.message_id, "messages"))
SIMULATED = delete(simulated_submit).where(
    simulated_submit.c.message_id.between(READY.c.batch_id, last_message_id(READY.c.batch_id)),
    simulated_submit.c.phone == NUMBER,
)
TEXTS = (
    update(send)
    .where(in_parameter(send.c.id, "sends"))
    .where(TO_ONE_PHONE)
    .where(or_(send.c.message != "", send.c.smpp.is_not(None)))
    .values(message="", reference=None, metadata=null(), smpp=null(), request_id=None, traceparent=None)
    .values(callback_url=None)
)
COUNT_AGAIN = (
    update(usage_hour)
    .where(
        usage_hour.c.began_at.in_(
            select(func.date_trunc("hour", send.c.created_at, "UTC"))
            .join(batch, batch.c.send_id == send.c.id)
            .where(in_parameter(batch.c.id, "ids"), not_(WAS_ARCHIVED))
        )
    )
    .values(counters=None, final=False, due_at=func.now())
)
"""Erased messages have no country: hours of their sends, unless archived, are counted again before retention."""
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
INBOUND = delete(inbound).where(inbound.c.account_id == ACCOUNT, in_parameter(inbound.c.id, "inbound"))
PARTS = delete(inbound_part).where(
    inbound_part.c.phone.in_([PHONE, literal("+", Text) + PHONE]),
    func.lower(sender_id.c.sender_id) == func.lower(func.ltrim(inbound_part.c.sender_id, "+")),
    sender_id.c.account_id == ACCOUNT,
    sender_id.c.state.in_(["approved", "suspended"]),
    account.c.id == sender_id.c.account_id,
    account.c.sandbox_of.is_(None),
)
"""Parts of messages to the account, as `shared.inbound.store` assigns them."""
OF_ERASURE = erasure.c.id == bindparam("erasure")
AGE = func.now() - erasure.c.created_at
WAIT = func.least(LONGEST_WAIT, literal(timedelta(seconds=10)) + AGE.op("/", precedence=8)(5))
COUNT = update(erasure).where(OF_ERASURE).values(counts=bindparam("counted"))
LATER = (
    update(erasure)
    .where(OF_ERASURE)
    .values(waiting=bindparam("still_waiting"), counts=bindparam("counted"), due_at=func.now() + WAIT)
)
UNREADABLE = delete(unreadable_receipt).where(in_parameter(unreadable_receipt.c.id, "unreadable"))
CAPPED = delete(capped).where(capped.c.account_id == ACCOUNT, capped.c.phone == NUMBER)
VERIFICATIONS = delete(verification).where(verification.c.account_id == ACCOUNT, verification.c.phone == NUMBER)
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
    with attempt(engine, "erasure") as job:
        found = search(engine, erasure_id, job)
        if found is not None:
            with suppress(_TakenByAnother):
                _erase(engine, erasure_id, found)
    return erasure_id


class _TakenByAnother(Exception):
    """Another worker erases the phone, or has completed the erasure."""


@contextmanager
def _locked(engine: Engine, erasure_id: UUID) -> Iterator[tuple[Connection, dict[str, Any], Counter[str]]]:
    """Context of a transaction that has locked the erasure, with its subject and its counts so far."""
    with transaction(engine) as connection:
        due = connection.execute(LOCK, {"erasure": erasure_id}).one_or_none()
        if due is None:
            raise _TakenByAnother
        subject = {"account": due.account_id, "phone": str(due.phone), "number": due.phone}
        yield connection, subject, Counter(due.counts)


def _erase(engine: Engine, erasure_id: UUID, found: SearchResult) -> None:
    """Erase what was found, and complete the erasure if nothing is left to wait for."""
    waiting = found.batches
    for step in (BATCHES_PER_COMMIT, 1):
        pages, waiting = [waiting[first : first + step] for first in range(0, len(waiting), step)], []
        for page in pages:
            with _locked(engine, erasure_id) as (connection, subject, counts):
                waiting += _erase_messages(connection, page, subject, counts)
                connection.execute(COUNT, {"erasure": erasure_id, "counted": counts})
    for first in range(0, len(found.events), EVENTS_PER_COMMIT):
        with _locked(engine, erasure_id) as (connection, subject, _):
            erase_events(connection, found.events[first : first + EVENTS_PER_COMMIT], subject["account"])
    if found.deliveries:
        with _locked(engine, erasure_id) as (connection, subject, _):
            erase_urls(connection, found.deliveries, subject["account"])
    with _locked(engine, erasure_id) as (connection, subject, counts):
        ended = erase_imports(connection, found, subject["account"])  # before groups, as importers lock them
        _erase_elsewhere(connection, found, subject, counts)
        if waiting or not (found.settled and ended):
            connection.execute(LATER, {"erasure": erasure_id, "still_waiting": waiting, "counted": counts})
        else:
            _complete(connection, erasure_id, subject, counts)


def _erase_messages(
    connection: Connection, found: Sequence[UUID], subject: dict[str, Any], counts: Counter[str]
) -> list[UUID]:
    """Erase the phone from ended batches and their messages. Returns the batches that are waited for.

    A single batch may also be one that no worker has begun: its messages are canceled, which locks the account, and
    after that no other batch may be locked.
    """
    connection.execute(COUNT_AGAIN, {"ids": found})  # before the batches, as retention locks them
    rows = connection.execute(LOCK_BATCHES, {"ids": found})
    containing = [row for row in rows if subject["phone"] in row.recipients.split("\n")]
    in_doubt = set(connection.execute(IN_DOUBT, subject).scalars())
    unbegun = [row for row in containing if len(found) == 1 and row.epoch == 0 and row.state in NOT_TAKEN_STATES]
    ready = unbegun or [row for row in containing if row.state in ENDED and row.id not in in_doubt]
    erased = [message for row in ready for message in _rewrite(connection, row, subject["phone"])]
    for identifier in erased if unbegun else ():
        cancel_one(connection, identifier)
    counts["messages"] += len(erased)
    named = {"batch_id": [row.id for row in ready], "number": subject["number"], "messages": erased}
    for statement in (MESSAGES, SIMULATED, REFERENCES):
        connection.execute(statement, named)
    counts["texts"] += connection.execute(TEXTS, {"sends": sorted({row.send_id for row in ready})}).rowcount
    return [row.id for row in containing if row not in ready]


def _rewrite(connection: Connection, row: Row[Any], phone: str) -> list[UUID]:
    """Remove the phone and its variables from a batch. Returns its messages."""
    lines = row.recipients.split("\n")
    indexes = [index for index, line in enumerate(lines) if line == phone]
    texts = texts_of(connection)
    variables = texts.open_json(row.variables, row.id)
    for index in indexes:
        lines[index] = ERASED_PHONE
        if variables is not None and index < len(variables):
            variables[index] = None
    kept = None if variables is None else texts.seal_json(variables, row.id)
    connection.execute(REWRITE, {"batch": row.id, "lines": "\n".join(lines), "sealed": kept})
    return [message_id(row.id, index + 1) for index in indexes]


def _erase_elsewhere(
    connection: Connection, found: SearchResult, subject: dict[str, Any], counts: Counter[str]
) -> None:
    """Erase the phone from groups, inbound messages, verifications, exports, stored responses and rejections."""
    for group in connection.execute(GROUPS, subject).scalars().all():
        counts["contacts"] += remove_contacts(connection, group, [subject["number"]])
    connection.execute(OF_DELETED_GROUPS, subject)
    counts["inbound"] += connection.execute(INBOUND, {**subject, "inbound": found.inbound}).rowcount
    connection.execute(PARTS, subject)
    erase_rejections(connection, found.rejections, subject)
    connection.execute(UNREADABLE, {"unreadable": found.unreadable})
    connection.execute(VERIFICATIONS, subject)
    exports = message_export.c
    of_phone = and_(exports.account_id == subject["account"], exports.query["phone"].astext == subject["phone"])
    delete_exports(connection, of_phone)
    for path, key in sorted(found.responses):
        erase_response(connection, {"account": subject["account"], "of_path": path, "of_key": key}, subject["phone"])


def _complete(connection: Connection, erasure_id: UUID, subject: dict[str, Any], counts: Counter[str]) -> None:
    """Complete the erasure: opt-outs are kept as hashes, and nothing else contains the phone.

    The last of several erasures of the phone does so; each waits for the others, so that one knows that it is the last.
    """
    one_at_a_time(connection, "erasures", subject["account"])
    if not connection.execute(OTHERS, {**subject, "erasure": erasure_id}).scalar():
        hash_opt_outs(connection, subject["account"], subject["number"])
        connection.execute(CAPPED, subject)
    connection.execute(COMPLETE, {"erasure": erasure_id, "counted": counts})
