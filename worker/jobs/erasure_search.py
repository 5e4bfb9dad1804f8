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
from shared.db.connection import transaction
from shared.db.tables.contacts import contact_import, import_error
from shared.db.tables.events import event
from shared.db.tables.inbound import inbound
from shared.db.tables.messages import unreadable_receipt
from shared.db.tables.privacy import erasure
from shared.db.tables.sends import batch, idempotency, send, send_rejection
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.job_backoff import failures_of
from shared.job_failures import Job

ONLY_READ = text("SET TRANSACTION READ ONLY")
"""A statement that writes then fails, instead of delaying the readers of events."""
SETTLING = timedelta(seconds=30)
"""By then, no send accepted without knowledge of the request can still be uncommitted."""

ACCOUNT, PHONE = bindparam("account", type_=BigInteger), bindparam("phone", type_=Text)
QUOTED = literal('"', Text) + PHONE + '"'
"""The phone as it is in JSON."""
WAITING = bindparam("waiting", type_=ARRAY(Uuid))
ASKED_AT = bindparam("asked_at", type_=erasure.c.created_at.type)
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
        or_(WAITING.is_(None), batch.c.id == any_(WAITING), send.c.created_at > ASKED_AT - timedelta(minutes=5)),
    )
)
"""Batches that may contain the phone. Sends accepted around the time of the erasure request are checked each time."""
INBOUND = select(inbound.c.id).where(inbound.c.account_id == ACCOUNT, inbound.c.phone == PHONE)
EVENTS = select(event.c.id).where(event.c.account_id == ACCOUNT, func.strpos(cast(event.c.data, Text), QUOTED) > 0)
STORED_RESPONSES = select(*idempotency.c["path", "key"]).where(
    idempotency.c.account_id == ACCOUNT, func.strpos(idempotency.c.answer, PHONE) > 0
)
REJECTIONS = (
    select(send_rejection.c.send_id)
    .join_from(send, send_rejection, send_rejection.c.send_id == send.c.id)
    .where(send.c.account_id == ACCOUNT, func.strpos(cast(send_rejection.c.entries, Text), QUOTED) > 0)
)
IMPORT_ERRORS = (
    select(*import_error.c["import_id", "line"])
    .join_from(contact_import, import_error, import_error.c.import_id == contact_import.c.id)
    .where(
        contact_import.c.account_id == ACCOUNT,
        func.strpos(func.regexp_replace(import_error.c.value, "[^0-9]", "", "g"), PHONE) > 0,
    )
)
UNREADABLE = select(*unreadable_receipt.c["id", "octets"]).where(
    func.pg_catalog.position(unreadable_receipt.c.octets, func.convert_to(PHONE, "UTF8")) > 0
)


class SearchResult(NamedTuple):
    """Where the phone of an erasure may be, by the ids of the rows."""

    settled: bool
    """Whether everything under way at the time of the request had been committed."""
    batches: Sequence[UUID]
    inbound: Sequence[UUID]
    events: Sequence[UUID]
    rejections: Sequence[UUID]
    """Sends with rejected recipients."""
    responses: Sequence[tuple[str, str]]
    """Paths and idempotency keys."""
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
        return SearchResult(
            due.settled,
            batches=connection.execute(BATCHES, {**subject, **of_request}).scalars().all(),
            inbound=connection.execute(INBOUND, subject).scalars().all(),  # before the events that tell of them
            events=connection.execute(EVENTS, subject).scalars().all(),
            rejections=connection.execute(REJECTIONS, subject).scalars().all(),
            responses=[(row.path, row.key) for row in connection.execute(STORED_RESPONSES, subject)],
            import_errors=[(row.import_id, row.line) for row in connection.execute(IMPORT_ERRORS, subject)],
            unreadable=[] if is_sandbox(connection, due.account_id) else _unreadable(connection, str(due.phone)),
        )


def _unreadable(connection: Connection, phone: str) -> list[int]:
    """Receipts of which the phone is a whole run of digits, perhaps after the international prefix 00."""
    whole = re.compile(rb"(?<![0-9])(?:00)?%b(?![0-9])" % phone.encode())
    rows = connection.execute(UNREADABLE, {"phone": phone})
    return [row.id for row in rows if whole.search(row.octets)]
