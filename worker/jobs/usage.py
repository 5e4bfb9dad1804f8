"""Counts messages by hour, account, sender ID, category, country and status, in one of the workers.

An hour comprises the sends accepted in it. It is recounted as a whole, from one snapshot, whenever the sums of its
sends' counters have changed. So a crash or two workers at once do no harm, and the counts match the messages at the
time of counting. `pause_after_check` says when it is checked again. Eight days after its last send has ended, if
nothing is in doubt and no receipt may come, it is final, and its messages may be deleted.

Counting takes long, and readers of events wait for every transaction that has written (shared/events/stream.py). So the
transaction writes only when it has counted; if retention has changed the hour meanwhile, it fails and is repeated.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.errors import SerializationFailure
from sqlalchemy import (
    Connection,
    Engine,
    Interval,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    not_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError

from shared.db.advisory_locks import USAGE
from shared.db.connection import transaction
from shared.db.expressions import in_parameter, last_message_id, parameter_rows
from shared.db.tables.messages import message
from shared.db.tables.sends import batch, send
from shared.db.tables.usage import usage, usage_hour
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.ids import first_id_at
from shared.job_backoff import failures_of, is_ready
from shared.job_failures import attempt
from shared.lifecycle import CHARGED_STATUSES, STORED_STATUSES, MessageStatus
from shared.sms.countries import PREFIX_DIGITS, country_of

log = logging.getLogger(__name__)

CHECK_SECONDS = 10.0
"""Seconds between checks, and between two counts of the current hour."""
MIN_PAUSE_FACTOR = 50
"""The pause before a recount is at least this many times the duration of the count: counting takes at most 2 % of one
connection."""
WAITING_SECONDS = 600.0
"""Seconds between checks of an old hour of which messages still wait, unless those of all hours would take longer."""
FINAL_AFTER = timedelta(days=8)
"""Since the last send of an hour has ended, and so since its last message was submitted."""
RECEIPTS_AFTER = timedelta(days=3)
"""After the last message of an hour could expire at its carrier: a receipt may come so late."""
HOUR = timedelta(hours=1)
OPEN = (MessageStatus.IN_DOUBT,)

ONE_AT_A_TIME = select(func.pg_try_advisory_xact_lock(USAGE))
LAST_HOUR = select(func.max(usage_hour.c.began_at)).scalar_subquery()
FIRST_SEND = select(func.date_trunc("hour", send.c.created_at, "UTC")).order_by(send.c.id).limit(1).scalar_subquery()
THIS_HOUR = func.date_trunc("hour", func.now(), "UTC")
NEXT_HOURS = func.generate_series(
    func.coalesce(LAST_HOUR + HOUR, FIRST_SEND - HOUR, THIS_HOUR), func.now(), HOUR
).column_valued("hour")
BEGIN = insert(usage_hour).from_select(["began_at", "due_at"], select(NEXT_HOURS, NEXT_HOURS)).on_conflict_do_nothing()
DUE = (
    select(
        usage_hour.c.began_at,
        cast(usage_hour.c.began_at, Text).label("name"),
        failures_of("usage", usage_hour.c.began_at).label("failures"),
    )
    .where(not_(usage_hour.c.final), usage_hour.c.due_at <= func.now(), is_ready("usage", usage_hour.c.began_at))
    .order_by(usage_hour.c.due_at)
    .limit(1)
)
OF_THIS_HOUR = usage_hour.c.began_at == bindparam("hour")
OTHER = usage_hour.alias("other")
OPEN_HOURS = select(func.count()).where(not_(OTHER.c.final)).scalar_subquery()
HOUR_ROW = select(usage_hour.c.counters, func.now().label("now"), OPEN_HOURS.label("open_hours")).where(OF_THIS_HOUR)
DIMENSIONS = (send.c.account_id, send.c.sender_id, send.c.lane)
SUMS = (
    select(
        *DIMENSIONS,
        func.sum(send.c.accepted).label("accepted"),
        *(func.sum(send.c[status]).label(str(status)) for status in STORED_STATUSES),
        func.max(send.c.completed_at).label("last_end"),
        func.max(send.c.expires_at).label("last_expiry"),
    )
    .where(send.c.price > 0)
    .group_by(*DIMENSIONS)
)
FIRST_DIGITS = func.left(cast(message.c.phone, Text), PREFIX_DIGITS).label("prefix")
CREDITS = func.sum(message.c.price).filter(message.c.status.in_(sorted(CHARGED_STATUSES)))
MESSAGES = (
    select(
        *DIMENSIONS,
        FIRST_DIGITS,
        message.c.status,
        func.count().label("messages"),
        func.coalesce(CREDITS, 0).label("credits"),
    )
    .join_from(send, batch, batch.c.send_id == send.c.id)
    .join(message, and_(message.c.id > batch.c.id, message.c.id <= last_message_id(batch.c.id)))
    .where(send.c.price > 0)
    .group_by(*DIMENSIONS, FIRST_DIGITS, message.c.status)
)
OF_HOUR = and_(send.c.id >= bindparam("first"), send.c.id < bindparam("last"), send.c.forgotten_at.is_(None))
OF_SENDS = in_parameter(send.c.id, "sends")
SUMS_OF_HOUR, SUMS_OF_SENDS = SUMS.where(OF_HOUR), SUMS.where(OF_SENDS)
MESSAGES_OF_HOUR, MESSAGES_OF_SENDS = MESSAGES.where(OF_HOUR), MESSAGES.where(OF_SENDS)
FORGET = delete(usage).where(usage.c.began_at == bindparam("hour"), not_(usage.c.kept))
COUNTS = parameter_rows(
    "counts", *usage.c["account_id", "sender_id", "lane", "country", "status", "messages", "credits"]
)
COUNT = insert(usage).from_select(
    ["began_at", *COUNTS.c.keys()], select(bindparam("hour", type_=usage.c.began_at.type), *COUNTS.c)
)
COUNTED = (
    update(usage_hour)
    .where(OF_THIS_HOUR)
    .values(
        counters=bindparam("sums"),
        final=bindparam("is_final"),
        counted_at=func.now(),
        due_at=func.now() + bindparam("rest", type_=Interval),
    )
)


class Key(NamedTuple):
    """The dimensions by which messages are counted within an hour."""

    account_id: int
    sender_id: str
    lane: int
    country: str
    status: str


def count_due(engine: Engine, stop: threading.Event) -> None:
    """Count all hours that are due, until `stop` is set."""
    while count_one(engine) and not stop.is_set():
        pass


def count_one(engine: Engine) -> datetime | None:
    """Count the hour that has been due longest. Returns it; None if none is due, or another worker counts."""
    began = time.monotonic()
    snapshot = {"isolation_level": "REPEATABLE READ"}
    hour: datetime | None = None
    with transaction(engine) as connection:
        connection.execute(BEGIN)
    with (
        attempt(engine, "usage") as job,
        _unless_changed(),
        engine.connect().execution_options(**snapshot) as connection,
        connection.begin(),
    ):
        connection.execute(ALLOW_LONG_STATEMENTS)  # a large hour takes longer than other statements may
        if not connection.execute(ONE_AT_A_TIME).scalar():
            return None
        due = connection.execute(DUE).one_or_none()
        if due is not None:
            hour = due.began_at
            job.begin(due.name, None, due.failures)
            _count(connection, due.began_at, began)
    return hour


@contextmanager
def _unless_changed() -> Iterator[None]:
    """Context of a count. It is given up if the hour is changed meanwhile, and made again."""
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.orig, SerializationFailure):
            raise
        log.info("an hour was changed while it was counted; it is counted again")


def _count(connection: Connection, hour: datetime, began: float) -> None:
    row = connection.execute(HOUR_ROW, {"hour": hour}).one()
    span = {"first": first_id_at(hour), "last": first_id_at(hour + HOUR)}
    sums = connection.execute(SUMS_OF_HOUR, span).all()
    counters = [sum(int(each[column]) for each in sums) for column in range(3, 4 + len(STORED_STATUSES))]
    counts = _messages(sums, connection.execute(MESSAGES_OF_HOUR, span)) if counters != row.counters else None
    accepted, by_status = counters[0], dict(zip(STORED_STATUSES, counters[1:], strict=True))
    waiting = accepted - sum(by_status.values()) + sum(by_status[status] for status in OPEN)
    ends = [each.last_end for each in sums if each.last_end is not None and not waiting]
    quiet = row.now - max([hour + HOUR, *ends])
    rest = pause_after_check(quiet, waiting > 0, time.monotonic() - began, row.open_hours)
    receipts_may_come = any(each.last_expiry + RECEIPTS_AFTER > row.now for each in sums)
    is_final = quiet > FINAL_AFTER and not waiting and not receipts_may_come
    connection.execute(COUNTED, {"hour": hour, "sums": counters, "is_final": is_final, "rest": rest})
    if counts is not None:  # after the hour is locked: retention takes the same locks in this order
        replace_counts(connection, hour, counts)


def pause_after_check(quiet: timedelta, waiting: bool, took: float, open_hours: int) -> timedelta:
    """How long to leave an hour alone whose check `took` so many seconds.

    Half as long as it has been `quiet`: since it was over, or since its last send ended. But sends may be due weeks
    after the hour. While messages are `waiting`, it is checked every ten minutes, and less often if with all
    `open_hours` that would take more than about 2 % of one connection.
    """
    seconds = quiet.total_seconds() / 2
    if waiting:
        seconds = min(seconds, max(WAITING_SECONDS, MIN_PAUSE_FACTOR * took * open_hours))
    return timedelta(seconds=max(CHECK_SECONDS, MIN_PAUSE_FACTOR * took, seconds))


def counts_of(connection: Connection, sends: Sequence[UUID]) -> dict[Key, tuple[int, int]]:
    """Messages and credits of these sends only."""
    parameters = {"sends": list(sends)}
    sums = connection.execute(SUMS_OF_SENDS, parameters).all()
    return _messages(sums, connection.execute(MESSAGES_OF_SENDS, parameters))


def _messages(sums: Sequence[Any], rows: Iterable[Any]) -> dict[Key, tuple[int, int]]:
    """Messages and credits by key. Messages that ended with their send, without a row, have no country."""
    messages: Counter[Key] = Counter()
    credits: Counter[Key] = Counter()
    without_row: Counter[Key] = Counter(
        {
            Key(each.account_id, each.sender_id, each.lane, "", str(status)): int(getattr(each, status))
            for each in sums
            for status in STORED_STATUSES
        }
    )
    for row in rows:
        key = Key(row.account_id, row.sender_id, row.lane, country_of(row.prefix) or "", row.status)
        messages[key] += row.messages
        credits[key] += int(row.credits)
        without_row[key._replace(country="")] -= row.messages
    messages.update(without_row)
    return {key: (count, credits[key]) for key, count in messages.items() if count}


def replace_counts(connection: Connection, hour: datetime, counts: dict[Key, tuple[int, int]]) -> None:
    """Replace the counts of an hour, except those that retention has moved."""
    connection.execute(FORGET, {"hour": hour})
    connection.execute(COUNT, {"hour": hour, **columns_of(counts)})


def columns_of(counts: dict[Key, tuple[int, int]]) -> dict[str, list[Any]]:
    """The counts as columns, for statements with array parameters."""
    columns = {name: [getattr(key, name) for key in counts] for name in Key._fields}
    numbers = {"messages": [each[0] for each in counts.values()], "credits": [each[1] for each in counts.values()]}
    return {**columns, **numbers}
