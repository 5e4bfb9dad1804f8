"""Counts messages by hour, account, sender ID, category, country and status, in one of the workers; and those that a
carrier accepted by account, country and carrier with their cost, if any carrier has costs in the hour.

An hour comprises the sends accepted in it. It is recounted as a whole, from one snapshot, whenever the sums of its
sends' counters have changed. So a crash or two workers at once do no harm, and the counts match the messages at the
time of counting. `pause_after_check` says when it is checked again. Eight days after its last send has ended, if
nothing is in doubt and no receipt may come, it is final, and its messages may be deleted.

Counting takes long, and readers of events wait for every transaction that has written (shared/events/stream.py). So the
transaction writes only when it has counted; if retention has changed the hour meanwhile, it fails and is repeated.
"""

import logging
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
    Select,
    Text,
    and_,
    bindparam,
    cast,
    func,
    not_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError

from shared.db.advisory_locks import USAGE
from shared.db.connection import transaction
from shared.db.expressions import in_parameter, last_message_id
from shared.db.tables.messages import message
from shared.db.tables.sends import batch, send
from shared.db.tables.usage import margin, usage, usage_hour
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.ids import first_id_at
from shared.job_backoff import failures_of, is_ready
from shared.job_failures import attempt
from shared.lifecycle import CHARGED_STATUSES, LANES, STORED_STATUSES, MessageStatus
from shared.prices.book import Prices
from shared.prices.price_table import Costs
from shared.sms.countries import PREFIX_DIGITS, country_of, country_prefix
from worker.jobs.hourly_counts import HourlyCounts

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
SUMS = select(
    *DIMENSIONS,
    func.sum(send.c.accepted).label("accepted"),
    *(func.sum(send.c[status]).label(str(status)) for status in STORED_STATUSES),
    func.max(send.c.completed_at).label("last_end"),
    func.max(send.c.expires_at).label("last_expiry"),
).group_by(*DIMENSIONS)
FIRST_DIGITS = func.left(cast(message.c.phone, Text), bindparam("digits")).label("prefix")
CREDITS = func.sum(message.c.price).filter(message.c.status.in_(sorted(CHARGED_STATUSES)))
MESSAGES = (
    select(
        *DIMENSIONS,
        FIRST_DIGITS,
        message.c.status,
        message.c.carrier,
        func.count().label("messages"),
        func.coalesce(CREDITS, 0).label("credits"),
        func.sum(func.coalesce(batch.c.segments, send.c.segments)).label("segments"),
    )
    .join_from(send, batch, batch.c.send_id == send.c.id)
    .join(message, and_(message.c.id > batch.c.id, message.c.id <= last_message_id(batch.c.id)))
    .group_by(*DIMENSIONS, FIRST_DIGITS, message.c.status, message.c.carrier)
)
OF_HOUR = and_(send.c.id >= bindparam("first"), send.c.id < bindparam("last"), send.c.forgotten_at.is_(None))
OF_SENDS = in_parameter(send.c.id, "sends")
SUMS_OF_HOUR, SUMS_OF_SENDS = SUMS.where(OF_HOUR), SUMS.where(OF_SENDS)
MESSAGES_OF_HOUR, MESSAGES_OF_SENDS = MESSAGES.where(OF_HOUR), MESSAGES.where(OF_SENDS)
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


class MarginKey(NamedTuple):
    """The dimensions by which charged messages and their cost are counted."""

    account_id: int
    country: str
    carrier: str
    costed: bool


class Counts(NamedTuple):
    """Messages and credits; and of charged messages also their cost, if any carrier has costs."""

    usage: dict[Key, tuple[int, ...]]
    margin: dict[MarginKey, tuple[int, ...]]


USAGE_COUNTS = HourlyCounts(usage, Key._fields, "messages", "credits")
MARGIN_COUNTS = HourlyCounts(margin, MarginKey._fields, "messages", "credits", "cost")


def count_one(engine: Engine, prices: Prices | None = None) -> datetime | None:
    """Count the hour that has been due longest. Returns it; None if none is due, or another worker counts.

    `prices` keeps what carriers cost in memory.
    """
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
            _count(connection, due.began_at, began, prices)
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


def _count(connection: Connection, hour: datetime, began: float, prices: Prices | None) -> None:
    row = connection.execute(HOUR_ROW, {"hour": hour}).one()
    span = {"first": first_id_at(hour), "last": first_id_at(hour + HOUR)}
    sums = connection.execute(SUMS_OF_HOUR, span).all()
    counters = [sum(int(each[column]) for each in sums) for column in range(3, 4 + len(STORED_STATUSES))]
    counts = None
    if counters != row.counters:
        counts = _counts(connection, hour, sums, MESSAGES_OF_HOUR.params(span), prices)
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


def counts_of(connection: Connection, hour: datetime, sends: Sequence[UUID], prices: Prices | None = None) -> Counts:
    """The counts of these sends of an hour only."""
    parameters = {"sends": list(sends)}
    sums = connection.execute(SUMS_OF_SENDS, parameters).all()
    return _counts(connection, hour, sums, MESSAGES_OF_SENDS.params(parameters), prices)


def _counts(
    connection: Connection, hour: datetime, sums: Sequence[Any], messages: Select[Any], prices: Prices | None
) -> Counts:
    costs = (prices or Prices(connection.engine)).costs_at(hour)
    digits = max([PREFIX_DIGITS, *(table.significant for table in costs.values())])
    rows = connection.execute(messages.params(digits=digits)).all()
    return Counts(_usage(sums, rows), _margin(rows, costs) if costs else {})


def _usage(sums: Sequence[Any], rows: Iterable[Any]) -> dict[Key, tuple[int, ...]]:
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
        key = Key(row.account_id, row.sender_id, row.lane, _country(row), row.status)
        messages[key] += row.messages
        credits[key] += int(row.credits)
        without_row[key._replace(country="")] -= row.messages
    messages.update(without_row)
    return {key: (count, credits[key]) for key, count in messages.items() if count}


def _margin(rows: Iterable[Any], costs: Costs) -> dict[MarginKey, tuple[int, ...]]:
    """Messages, credits and cost of charged messages by key. Those without a cost have a key of their own."""
    totals: dict[MarginKey, tuple[int, ...]] = {}
    for row in rows:
        if row.status in CHARGED_STATUSES:
            table = costs.get(row.carrier)
            price = None if table is None else table.find(row.prefix, LANES[row.lane])
            key = MarginKey(row.account_id, _country(row), row.carrier or "", price is not None)
            cost = 0 if price is None else price.credits * int(row.segments)
            added = zip(totals.get(key, (0, 0, 0)), (row.messages, int(row.credits), cost), strict=True)
            totals[key] = tuple(map(sum, added))
    return totals


def _country(row: Any) -> str:
    return country_of(country_prefix(row.prefix)) or ""


def replace_counts(connection: Connection, hour: datetime, counts: Counts) -> None:
    """Replace the counts of an hour, except those that retention has moved."""
    USAGE_COUNTS.replace(connection, hour, counts.usage)
    MARGIN_COUNTS.replace(connection, hour, counts.margin)
