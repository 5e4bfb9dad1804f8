"""Deletes texts and phones after the retention period, which the operator sets for the installation or an account.

Whole ended sends are forgotten: their text, their recipients, the rejected recipients, and the rows of their messages.
Counts, credits and usage are kept. A week's partition is dropped once all of its sends are forgotten.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import accumulate, groupby
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Connection,
    Engine,
    Integer,
    MetaData,
    Row,
    Table,
    and_,
    bindparam,
    case,
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

from shared.db.advisory_locks import RETENTION
from shared.db.connection import reading
from shared.db.expressions import in_parameter, last_message_id
from shared.db.partitions import WEEK, partition_of, weeks_of_messages
from shared.db.tables.accounts import account
from shared.db.tables.base import MOMENT
from shared.db.tables.messages import attempt as attempt_row
from shared.db.tables.messages import message, resolved_doubt
from shared.db.tables.running import simulated_submit
from shared.db.tables.sends import batch, recipient_reference, send, send_rejection
from shared.db.tables.usage import usage_hour
from shared.db.tables.verifications import verification
from shared.db.timeouts import WAIT_BRIEFLY_FOR_LOCKS
from shared.doubts.candidates import MAX_VALIDITY
from shared.ids import FIRST_ID, first_id_at, time_of
from shared.job_backoff import failures_of, is_ready
from shared.job_failures import attempt
from shared.prices.book import Prices
from shared.privacy.erasures import TO_ONE_PHONE
from shared.sends.archived import without_archived
from worker.jobs.usage import MARGIN_COUNTS, USAGE_COUNTS, Counts, counts_of

PAGE, PAGE_MESSAGES = 500, 20_000
"""Most sends of one transaction, and most of their messages: readers of events wait for it. The messages of a larger
send are deleted some batches at a time."""
BATCHES = 20

ONE_AT_A_TIME = select(func.pg_try_advisory_xact_lock(RETENTION))
ACCOUNTS = select(
    account.c.id,
    func.coalesce(account.c.retention_days, bindparam("days", type_=Integer)).label("days"),
    account.c.forgotten_to,
    failures_of("retention", account.c.id).label("failures"),
    is_ready("retention", account.c.id).label("ready"),
).order_by(account.c.id)
IS_OVER = and_(
    send.c.completed_at.is_not(None),
    send.c.completed_at < bindparam("before", type_=MOMENT),
    send.c.in_doubt == 0,
    or_(send.c.sent == 0, send.c.completed_at < bindparam("receipts_before", type_=MOMENT)),
)
SENDS = (
    select(*send.c["id", "accepted"], send.c.forgotten_at.is_not(None).label("forgotten"), IS_OVER.label("over"))
    .where(send.c.account_id == bindparam("account"), send.c.id > bindparam("after"), send.c.id < bindparam("first"))
    .order_by(send.c.id)
    .limit(PAGE)
)
COUNT_AGAIN = (
    update(usage_hour)
    .where(usage_hour.c.began_at == bindparam("hour"), not_(usage_hour.c.final))
    .values(counters=None, due_at=func.now())
)
OF_SENDS, OF_BATCHES = in_parameter(batch.c.send_id, "sends"), in_parameter(batch.c.id, "batches")
LOCK_BATCHES = select(batch.c.id).where(OF_SENDS).order_by(batch.c.id).with_for_update()
"""Before their messages and in the order of their ids, as an erasure locks them."""
PHONES = (
    update(batch)
    .where(OF_SENDS)
    .values(recipients="", variables=case((batch.c.variables.is_not(None), literal([], JSONB))))
)
MESSAGES, ATTEMPTS, SIMULATED, REFERENCES, RESOLVED_DOUBTS = (
    delete(column.table).where(column > batch.c.id, column <= last_message_id(batch.c.id))
    for column in (
        message.c.id,
        attempt_row.c.message_id,
        simulated_submit.c.message_id,
        recipient_reference.c.message_id,
        resolved_doubt.c.message_id,
    )
)
OF_MESSAGES = (MESSAGES, ATTEMPTS, SIMULATED, REFERENCES)
BATCHES_OF_SEND = select(batch.c.id).where(batch.c.send_id == bindparam("send")).order_by(batch.c.id)
REJECTIONS = delete(send_rejection).where(in_parameter(send_rejection.c.send_id, "sends"))
TEXTS = (
    update(send)
    .where(in_parameter(send.c.id, "sends"))
    .values(message="", metadata=null(), smpp=null(), callback_url=None, request_id=None, traceparent=None)
    .values(reference=case((TO_ONE_PHONE, null()), else_=send.c.reference), forgotten_at=func.clock_timestamp())
)
VERIFICATIONS = delete(verification).where(
    verification.c.account_id == bindparam("account"), verification.c.expires_at < bindparam("before", type_=MOMENT)
)
MARK = update(account).where(account.c.id == bindparam("account")).values(forgotten_to=bindparam("mark"))
HAS_KEPT_SENDS = select(
    exists()
    .where(batch.c.id >= bindparam("low"), batch.c.id < bindparam("high"))
    .where(send.c.id == batch.c.send_id, send.c.forgotten_at.is_(None))
)


def forget(engine: Engine, days: int, now: datetime | None = None, prices: Prices | None = None) -> int:
    """Forget the sends of every account that are older than its retention period.

    `days` is for accounts without their own; 0 keeps them forever. `prices` keeps what carriers cost in memory. Returns
    how many sends were forgotten.
    """
    now = now or datetime.now(UTC)
    with reading(engine) as connection:
        accounts = connection.execute(ACCOUNTS, {"days": days}).all()
    longest = max((each.days or 10**6 for each in accounts), default=0)
    forgotten = 0
    for each in accounts:
        if each.days and each.ready:
            with attempt(engine, "retention") as job:
                job.begin(each.id, each.id, each.failures)
                forgotten += _forget_account(engine, each, now, prices)
    if 0 < longest < 10**6:
        drop_weeks(engine, now - timedelta(days=longest))
    return forgotten


def _forget_account(engine: Engine, account: Row[Any], now: datetime, prices: Prices | None) -> int:
    """Forget the account's ended sends, in the order of their ids."""
    before = now - timedelta(days=account.days)
    after = mark = account.forgotten_to or FIRST_ID
    all_forgotten, forgotten = True, 0
    with engine.begin() as connection:
        connection.execute(VERIFICATIONS, {"account": account.id, "before": before})
    while True:
        with engine.begin() as connection:
            if not connection.execute(ONE_AT_A_TIME).scalar():
                return forgotten
            times = {"first": first_id_at(before), "before": before, "receipts_before": now - MAX_VALIDITY}
            found = connection.execute(SENDS, {"account": account.id, "after": after, **times}).all()
            sends = _first_of(found)
            ready = [send for send in sends if send.over and not send.forgotten]
            _forget_sends(connection, ready, prices)
            for send in sends:
                all_forgotten = all_forgotten and (send.over or send.forgotten)
                mark = send.id if all_forgotten else mark
            large = [send.id for send in sends if _is_large(send) and (send.over or send.forgotten)]
            if not large:
                connection.execute(MARK, {"account": account.id, "mark": mark})
        if large:  # also those that were forgotten before a crash
            for send in large:
                _delete_of_send(engine, send)
            with engine.begin() as connection:
                connection.execute(MARK, {"account": account.id, "mark": mark})
        forgotten += len(ready)
        if len(sends) == len(found) < PAGE:
            return forgotten
        after = sends[-1].id


def _first_of(found: Sequence[Any]) -> Sequence[Any]:
    """The first sends, with at most PAGE_MESSAGES together; at least one."""
    messages = accumulate(0 if send.forgotten else send.accepted for send in found)
    return found[: max(1, sum(total <= PAGE_MESSAGES for total in messages))]


def _is_large(send: Row[Any]) -> bool:
    return bool(send.accepted > PAGE_MESSAGES)


def keep_usage(connection: Connection, hour: datetime, counts: Counts) -> None:
    """Move counts of an hour to rows that no recount replaces. The hour is locked first: what a count that ends
    meanwhile has replaced is seen."""
    connection.execute(COUNT_AGAIN, {"hour": hour})
    USAGE_COUNTS.move(connection, hour, counts.usage)
    MARGIN_COUNTS.move(connection, hour, counts.margin)


def _forget_sends(connection: Connection, ready: Sequence[Row[Any]], prices: Prices | None) -> None:
    sends = [send.id for send in ready]
    for hour, of_hour in _by_hour(without_archived(connection, sends)):
        keep_usage(connection, hour, counts_of(connection, hour, of_hour, prices))
    if sends:
        connection.execute(LOCK_BATCHES, {"sends": sends})
    small = [send.id for send in ready if not _is_large(send)]
    if small:
        for statement in OF_MESSAGES:
            connection.execute(statement.where(OF_SENDS), {"sends": small})
    if sends:
        for change in (PHONES, RESOLVED_DOUBTS.where(OF_SENDS), REJECTIONS, TEXTS):
            connection.execute(change, {"sends": sends})


def _delete_of_send(engine: Engine, send: UUID) -> None:
    """Delete the messages of a large send that is forgotten, some batches at a time."""
    with reading(engine) as connection:
        batches = connection.execute(BATCHES_OF_SEND, {"send": send}).scalars().all()
    for first in range(0, len(batches), BATCHES):
        with engine.begin() as connection:
            for statement in OF_MESSAGES:
                connection.execute(statement.where(OF_BATCHES), {"batches": batches[first : first + BATCHES]})


def _by_hour(sends: list[UUID]) -> Iterator[tuple[datetime, list[UUID]]]:
    def hour(send: UUID) -> datetime:
        return time_of(send).replace(minute=0, second=0, microsecond=0)

    for began_at, of_hour in groupby(sends, hour):
        yield began_at, list(of_hour)


def drop_weeks(engine: Engine, before: datetime) -> list[str]:
    """Drop the partitions of weeks before `before` whose sends are all forgotten. Returns their names."""
    dropped = []
    with reading(engine) as connection:
        weeks = weeks_of_messages(connection)
    for week in weeks:
        began = datetime.combine(week, time.min, UTC)
        days = (began + timedelta(days=day) for day in range(WEEK.days))
        if began + WEEK > before or any(_has_kept_sends(engine, day) for day in days):
            continue
        with engine.begin() as connection:
            connection.execute(WAIT_BRIEFLY_FOR_LOCKS)  # dropping a partition blocks all users of the table
            Table(partition_of(week), MetaData()).drop(connection, checkfirst=False)
        dropped.append(partition_of(week))
    return dropped


def _has_kept_sends(engine: Engine, day: datetime) -> bool:
    """Whether sends of a day are still needed. Many weeks are too large for one statement."""
    span = {"low": first_id_at(day), "high": first_id_at(day + timedelta(days=1))}
    with reading(engine) as connection:
        return bool(connection.execute(HAS_KEPT_SENDS, span).scalar())
