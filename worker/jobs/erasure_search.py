"""Searches all data of an account for a phone that is to be erased, without holding anything up.

Whole tables are read, which may take minutes. Readers of events wait for every transaction that has written
(shared/events/stream.py), so this one only reads; `worker.jobs.erasure` then writes what was found, by its ids.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    Text,
    Uuid,
    and_,
    any_,
    bindparam,
    cast,
    func,
    literal,
    or_,
    select,
    text,
)

from shared.accounts.sandbox import is_sandbox
from shared.contacts.imports import HAS_FILE
from shared.db.connection import transaction
from shared.db.expressions import in_constants
from shared.db.tables.contacts import contact_import, import_error
from shared.db.tables.events import event
from shared.db.tables.inbound import inbound
from shared.db.tables.messages import erasure, unreadable_receipt
from shared.db.tables.sends import batch, idempotency, send, send_rejection
from shared.db.tables.webhooks import delivery, webhook
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.job_backoff import failures_of
from shared.job_failures import Job

ONLY_READ = text("SET TRANSACTION READ ONLY")
"""A statement that writes then fails, instead of delaying the readers of events."""
SETTLING = timedelta(seconds=30)
"""By then, no send accepted without knowledge of the request can still be uncommitted."""
NEARBY = timedelta(minutes=5)
"""Sends accepted up to this time before the request may still be uncommitted; files of imports begun up to this time
after it may have been written before it."""

ACCOUNT, PHONE = bindparam("account", type_=BigInteger), bindparam("phone", type_=Text)
NATIONAL_DIGITS = 7
"""The last digits of a phone, which it also has as a national number: rather one number too many is erased."""
OTHER_DIGITS = "".join(map(chr, (*range(0x660, 0x66A), *range(0x6F0, 0x6FA), *range(0xFF10, 0xFF1A))))
DIGITS = "0123456789" * 3
"""Arabic, Persian and fullwidth digits, for which a recipient or a row is rejected; and the same in ASCII."""
NO_DIGITS = f"[^0-9{OTHER_DIGITS}]+"
QUOTED = literal('"', Text) + PHONE + '"'
"""The phone as it is in JSON."""
WAITING = bindparam("waiting", type_=ARRAY(Uuid))
ASKED_AT = bindparam("asked_at", type_=erasure.c.created_at.type)
LONGEST_WAIT = timedelta(hours=1)
"""Between two searches."""
IS_DUE = and_(erasure.c.completed_at.is_(None), erasure.c.due_at <= func.now())
SUBJECT = (
    select(*erasure.c["account_id", "phone", "waiting", "created_at"])
    .add_columns(
        (erasure.c.created_at < func.now() - SETTLING).label("settled"),
        failures_of("erasure", erasure.c.id).label("failures"),
    )
    .where(erasure.c.id == bindparam("erasure"), IS_DUE)
)
BATCHES = (
    select(batch.c.id)
    .join_from(send, batch, batch.c.send_id == send.c.id)
    .where(
        send.c.account_id == ACCOUNT,
        func.strpos(batch.c.recipients, PHONE) > 0,
        or_(WAITING.is_(None), batch.c.id == any_(WAITING), send.c.created_at > ASKED_AT - NEARBY),
    )
)
"""Batches that may contain the phone. Sends accepted around the time of the erasure request are checked each time."""
INBOUND = select(inbound.c.id).where(inbound.c.account_id == ACCOUNT, inbound.c.phone == PHONE)
EVENTS = select(event.c.id).where(event.c.account_id == ACCOUNT, func.strpos(cast(event.c.data, Text), QUOTED) > 0)

OF_CALLBACKS = and_(webhook.c.account_id == ACCOUNT, webhook.c.url.is_(None), webhook.c.state != "deleted")
"""The webhook that posts to the `callback_url` of sends."""
DELIVERIES = (
    select(delivery.c.event_id)
    .join_from(webhook, delivery, delivery.c.webhook_id == webhook.c.id)
    .where(OF_CALLBACKS, func.strpos(delivery.c.url, PHONE) > 0)
)


def _may_have_phone(content: ColumnElement[str]) -> ColumnElement[bool]:
    """The phone is in the text, perhaps as a national number, with spaces and in other digits."""
    digits = func.translate(func.regexp_replace(content, NO_DIGITS, "", "g"), OTHER_DIGITS, DIGITS)
    return func.strpos(digits, func.right(PHONE, NATIONAL_DIGITS)) > 0


RESPONSE = idempotency.c.response
STORED_RESPONSES = select(*idempotency.c["path", "key"]).where(
    idempotency.c.account_id == ACCOUNT,
    or_(func.strpos(RESPONSE, PHONE) > 0, and_(func.strpos(RESPONSE, '"code"') > 0, _may_have_phone(RESPONSE))),
)
"""What was accepted is in them as it is stored, and what was rejected, with a code, as it was written."""
REJECTIONS = (
    select(send_rejection.c.send_id)
    .join_from(send, send_rejection, send_rejection.c.send_id == send.c.id)
    .where(send.c.account_id == ACCOUNT, _may_have_phone(cast(send_rejection.c.entries, Text)))
)
GOES_ON = in_constants(contact_import.c.state, "receiving", "queued", "running")
IMPORTS = (
    select(contact_import.c.id, GOES_ON.label("goes_on"))
    .where(contact_import.c.account_id == ACCOUNT, contact_import.c.created_at < ASKED_AT + NEARBY)
    .where(or_(GOES_ON, HAS_FILE))
    .order_by(contact_import.c.id)
)
"""Imports whose files may contain the phone, however it is written there. Each ends: an upload is abandoned after two
hours, and an import that keeps failing is set aside."""
IMPORT_ERRORS = (
    select(*import_error.c["import_id", "line"])
    .join_from(contact_import, import_error, import_error.c.import_id == contact_import.c.id)
    .where(contact_import.c.account_id == ACCOUNT, _may_have_phone(import_error.c.value))
)
UNREADABLE = select(*unreadable_receipt.c["id", "octets"]).where(
    func.pg_catalog.position(unreadable_receipt.c.octets, func.convert_to(PHONE, "UTF8")) > 0
)


class SearchResult(NamedTuple):
    """Where the phone of an erasure may be, by the ids of the rows."""

    settled: bool
    """Whether everything under way at the time of the request had been committed, and its imports had ended."""
    batches: Sequence[UUID]
    inbound: Sequence[UUID]
    events: Sequence[UUID]
    deliveries: Sequence[UUID]
    """Their events."""
    rejections: Sequence[UUID]
    """Sends with rejected recipients."""
    responses: Sequence[tuple[str, str]]
    """Paths and idempotency keys."""
    imports: Sequence[UUID]
    """Imports that have stopped early, with a part of their file."""
    import_errors: Sequence[tuple[UUID, int]]
    """Imports and lines."""
    unreadable: Sequence[int]


def search(engine: Engine, erasure_id: UUID, job: Job) -> SearchResult | None:
    """Begin the job of an erasure, and find the rows that may contain its phone. Returns None if it is not due."""
    with transaction(engine) as connection:
        connection.execute(ONLY_READ)
        connection.execute(ALLOW_LONG_STATEMENTS)
        due = connection.execute(SUBJECT, {"erasure": erasure_id}).one_or_none()
        if due is None:  # taken by another worker since, or no longer open
            return None
        job.begin(erasure_id, due.account_id, due.failures)
        subject = {"account": due.account_id, "phone": str(due.phone)}
        of_request = {"waiting": due.waiting, "asked_at": due.created_at}
        imports = connection.execute(IMPORTS, {**subject, **of_request}).all()  # before the errors that they add
        return SearchResult(
            due.settled and not any(row.goes_on for row in imports),
            batches=connection.execute(BATCHES, {**subject, **of_request}).scalars().all(),
            inbound=connection.execute(INBOUND, subject).scalars().all(),  # before the events that tell of them
            events=connection.execute(EVENTS, subject).scalars().all(),
            deliveries=connection.execute(DELIVERIES, subject).scalars().all(),
            rejections=connection.execute(REJECTIONS, subject).scalars().all(),
            responses=[(row.path, row.key) for row in connection.execute(STORED_RESPONSES, subject)],
            imports=[row.id for row in imports if not row.goes_on],
            import_errors=[(row.import_id, row.line) for row in connection.execute(IMPORT_ERRORS, subject)],
            unreadable=[] if is_sandbox(connection, due.account_id) else _unreadable(connection, str(due.phone)),
        )


def _unreadable(connection: Connection, phone: str) -> list[int]:
    """Receipts of which the phone is a whole run of digits, perhaps after the international prefix 00."""
    whole = re.compile(rb"(?<![0-9])(?:00)?%b(?![0-9])" % phone.encode())
    rows = connection.execute(UNREADABLE, {"phone": phone})
    return [row.id for row in rows if whole.search(row.octets)]
