"""Deletes texts and phones after the retention period, which the operator sets for the installation or an account.

Whole ended sends are forgotten: their text, their recipients, the rejected recipients, and the rows of their messages.
Counts, credits and usage are kept. Message rows are deleted with their sends or, if no account keeps its own longer, by
dropping their week's partition.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from shared.db.connection import reading
from shared.ids import first_id_at, time_of
from shared.job_failures import FAILURES, IN_BACKOFF, attempt
from worker.jobs.usage import columns_of, counts_of

PAGE = 500
"""Sends of one transaction."""
WEEK = timedelta(weeks=1)
LAST = UUID(int=2**128 - 1)
NAME = re.compile("message_[0-9]{8}")

ONE_AT_A_TIME = text("SELECT pg_try_advisory_xact_lock(7305243)")
ACCOUNTS = text(
    f"""
    SELECT id, coalesce(retention_days, :days) AS days, forgotten_to,
           {FAILURES.format(kind="retention", subject="id")} AS failures,
           {IN_BACKOFF.format(kind="retention", subject="id")} AS rests
      FROM account ORDER BY id
    """
)
SENDS = text(
    """
    SELECT id, forgotten_at IS NOT NULL AS forgotten,
           completed_at IS NOT NULL AND completed_at < :before AND in_doubt = 0 AS over
      FROM send WHERE account_id = :account AND id > :after AND id < :first ORDER BY id LIMIT :page
    """
)
KEEP_USAGE = text(
    """
    WITH moved AS (
        SELECT CAST(:hour AS timestamptz) AS began_at, u.*
          FROM unnest(CAST(:account AS bigint[]), CAST(:sender AS text[]), CAST(:lane AS int[]),
                      CAST(:country AS text[]), CAST(:status AS message_status[]), CAST(:messages AS bigint[]),
                      CAST(:credits AS bigint[]))
               AS u (account_id, sender_id, lane, country, status, messages, credits)
    ), less AS (
        UPDATE usage u SET messages = u.messages - m.messages, credits = u.credits - m.credits
          FROM moved m
         WHERE (u.account_id, u.began_at, u.sender_id, u.lane, u.country, u.status)
             = (m.account_id, m.began_at, m.sender_id, m.lane, m.country, m.status) AND NOT u.kept
    )
    INSERT INTO usage (account_id, began_at, sender_id, lane, country, status, messages, credits, kept)
    SELECT account_id, began_at, sender_id, lane, country, status, messages, credits, true FROM moved
    ON CONFLICT (account_id, began_at, sender_id, lane, country, status, kept)
    DO UPDATE SET messages = usage.messages + EXCLUDED.messages, credits = usage.credits + EXCLUDED.credits
    """
)
EMPTY_USAGE = text("DELETE FROM usage WHERE began_at = :hour AND NOT kept AND messages = 0")
COUNT_AGAIN = text("UPDATE usage_hour SET counters = NULL, due_at = now() WHERE began_at = :hour AND NOT final")
PHONES = text(
    """
    UPDATE batch SET recipients = '', variables = CASE WHEN variables IS NOT NULL THEN CAST('[]' AS jsonb) END
     WHERE send_id = ANY(:sends)
    """
)
MESSAGES = text(
    """
    DELETE FROM message m USING batch b
     WHERE b.send_id = ANY(:sends)
       AND m.id > b.id AND m.id <= CAST(overlay(b.id::text placing 'ffff' from 33) AS uuid)
    """
)
ATTEMPTS, RESOLVED_DOUBTS = (
    text(
        f"""
        DELETE FROM {table} m USING batch b
         WHERE b.send_id = ANY(:sends)
           AND m.message_id > b.id AND m.message_id <= CAST(overlay(b.id::text placing 'ffff' from 33) AS uuid)
        """
    )
    for table in ("attempt", "resolved_doubt")
)
REJECTIONS = text("DELETE FROM send_rejection WHERE send_id = ANY(:sends)")
TEXTS = text("UPDATE send SET message = '', metadata = NULL, forgotten_at = clock_timestamp() WHERE id = ANY(:sends)")
MARK = text("UPDATE account SET forgotten_to = :mark WHERE id = :account")
PARTITIONS = text(
    """
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'message'::regclass ORDER BY 1
    """
)
REMEMBERED = text(
    """
    SELECT EXISTS (SELECT FROM batch b JOIN send s ON s.id = b.send_id
                    WHERE b.id >= :low AND b.id < :high AND s.forgotten_at IS NULL)
    """
)
ROWS_OF_WEEK = text(
    """
    DELETE FROM message m USING batch b, send s
     WHERE m.id >= :low AND m.id < :high AND b.id = batch_of(m.id) AND s.id = b.send_id AND s.forgotten_at IS NOT NULL
    """
)
SHORT_WAIT = text("SET LOCAL lock_timeout = '500ms'")
"""Dropping a partition blocks all users of the table for a moment. So it is retried later rather than waited for."""


def forget(engine: Engine, days: int, now: datetime | None = None) -> int:
    """Forget the sends of every account that are older than its retention period.

    `days` is for accounts without their own; 0 keeps them forever. Returns how many sends were forgotten.
    """
    now = now or datetime.now(UTC)
    with reading(engine) as connection:
        accounts = connection.execute(ACCOUNTS, {"days": days}).all()
    longest = max((account.days or 10**6 for account in accounts), default=0)
    forgotten = 0
    for account in accounts:
        if account.days and not account.rests:
            with attempt(engine, "retention") as job:
                job.begin(account.id, account.id, account.failures)
                rows = account.days < longest or longest != days
                forgotten += _forget_account(engine, account, now, rows=rows)
    if 0 < longest < 10**6:
        drop_weeks(engine, now - timedelta(days=longest))
    return forgotten


def _forget_account(engine: Engine, account: Row[Any], now: datetime, *, rows: bool) -> int:
    """Forget the account's ended sends, in the order of their ids. With `rows`, delete their messages' rows too."""
    before = now - timedelta(days=account.days)
    after = mark = account.forgotten_to or UUID(int=0)
    all_forgotten, forgotten = True, 0
    while True:
        with engine.begin() as connection:
            if not connection.execute(ONE_AT_A_TIME).scalar():
                return forgotten
            span = {"account": account.id, "after": after, "first": first_id_at(before), "before": before, "page": PAGE}
            sends = connection.execute(SENDS, span).all()
            ready = [send.id for send in sends if send.over and not send.forgotten]
            _forget_sends(connection, ready, rows=rows)
            for send in sends:
                all_forgotten = all_forgotten and (send.over or send.forgotten)
                mark = send.id if all_forgotten else mark
            connection.execute(MARK, {"account": account.id, "mark": mark})
        forgotten += len(ready)
        if len(sends) < PAGE:
            return forgotten
        after = sends[-1].id


def _forget_sends(connection: Connection, sends: list[UUID], *, rows: bool) -> None:
    for hour, of_hour in _by_hour(sends):
        kept = counts_of(connection, of_hour)
        connection.execute(KEEP_USAGE, {"hour": hour, **columns_of(kept)})
        connection.execute(EMPTY_USAGE, {"hour": hour})
        connection.execute(COUNT_AGAIN, {"hour": hour})
    if sends:
        for statement in (PHONES, *((MESSAGES,) if rows else ()), ATTEMPTS, RESOLVED_DOUBTS, REJECTIONS, TEXTS):
            connection.execute(statement, {"sends": sends})


def _by_hour(sends: list[UUID]) -> Iterator[tuple[datetime, list[UUID]]]:
    def hour(send: UUID) -> datetime:
        return time_of(send).replace(minute=0, second=0, microsecond=0)

    for began_at, of_hour in groupby(sends, hour):
        yield began_at, list(of_hour)


def drop_weeks(engine: Engine, before: datetime) -> list[str]:
    """Drop the partitions of weeks that ended before `before` and whose sends are all forgotten. Returns their names.

    If some sends of a week are still needed, deletes only the rows of the forgotten ones.
    """
    dropped = []
    with reading(engine) as connection:
        names = [name for name in connection.execute(PARTITIONS).scalars() if NAME.fullmatch(name)]
    for name in names:
        began = datetime.strptime(name, "message_%Y%m%d").replace(tzinfo=UTC)
        if began + WEEK > before:
            continue
        with engine.begin() as connection:
            connection.execute(SHORT_WAIT)
            span = {"low": first_id_at(began), "high": first_id_at(began + WEEK)}
            if connection.execute(REMEMBERED, span).scalar():
                connection.execute(ROWS_OF_WEEK, span)
            else:
                connection.execute(text(f"DROP TABLE {name}"))
                dropped.append(name)
    return dropped
