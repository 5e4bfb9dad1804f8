"""Counts messages by hour, account, sender ID, category, country and status, in one of the workers.

An hour comprises the sends accepted in it. It is recounted as a whole, in one commit, whenever the sums of its sends'
counters have changed. So a crash or two workers at once do no harm, and the counts match the messages at the time of
counting. A recent hour is checked every few seconds, an older one less often, and less often the longer it takes to
count. After a week, if nothing is open, it is final, and its messages may be deleted.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.ids import first_id_at
from shared.job_failures import FAILURES, IN_BACKOFF, attempt
from shared.lifecycle import CHARGED, STORED, MessageStatus
from shared.periodic import repeat
from shared.sms.countries import PREFIX, country_of

log = logging.getLogger(__name__)

CHECK_SECONDS = 10.0
"""Seconds between checks, and between two counts of the current hour."""
PATIENCE = 50
"""The least time until a recount, as a multiple of the count's duration: limits counting to 2 % of one connection."""
FINAL_AFTER = timedelta(days=8)
"""No receipt applies later: unmatched ones are kept for three days."""
HOUR = timedelta(hours=1)
OPEN = (MessageStatus.IN_DOUBT,)
PAID = ", ".join(f"'{status}'" for status in sorted(CHARGED))

LONG = text("SET LOCAL statement_timeout = '10min'")
ONE_AT_A_TIME = text("SELECT pg_try_advisory_xact_lock(7305242)")
BEGIN = text(
    """
    INSERT INTO usage_hour (began_at, due_at)
    SELECT hour, hour
      FROM generate_series(
               coalesce((SELECT max(began_at) + interval '1 hour' FROM usage_hour),
                        (SELECT date_trunc('hour', created_at, 'UTC') - interval '1 hour' FROM send
                          ORDER BY id LIMIT 1),
                        date_trunc('hour', now(), 'UTC')),
               now(), interval '1 hour') AS h (hour)
    """
)
DUE = text(
    f"""
    SELECT began_at, CAST(began_at AS text) AS name, {FAILURES.format(kind="usage", subject="began_at")} AS failures
      FROM usage_hour
     WHERE NOT final AND due_at <= now() AND NOT {IN_BACKOFF.format(kind="usage", subject="began_at")}
     ORDER BY due_at LIMIT 1
    """
)
HOUR_ROW = text("SELECT counters, now() AS now FROM usage_hour WHERE began_at = :hour FOR UPDATE")
OF_HOUR = "s.id >= :first AND s.id < :last AND s.forgotten_at IS NULL"
OF_SENDS = "s.id = ANY(:sends)"
SUMS = f"""
    SELECT s.account_id, s.sender_id, s.lane, sum(s.accepted) AS accepted,
           {", ".join(f"sum(s.{status}) AS {status}" for status in STORED)}
      FROM send s WHERE {{which}} AND s.price > 0 GROUP BY 1, 2, 3
    """
MESSAGES = f"""
    SELECT s.account_id, s.sender_id, s.lane, left(m.phone::text, {PREFIX}) AS prefix, m.status, count(*) AS messages,
           coalesce(sum(m.price) FILTER (WHERE m.status IN ({PAID})), 0) AS credits
      FROM send s
      JOIN batch b ON b.send_id = s.id
      JOIN message m ON m.id > b.id AND m.id <= CAST(overlay(b.id::text placing 'ffff' from 33) AS uuid)
     WHERE {{which}} AND s.price > 0
     GROUP BY 1, 2, 3, 4, 5
    """
SUMS_OF_HOUR, SUMS_OF_SENDS = (text(SUMS.format(which=which)) for which in (OF_HOUR, OF_SENDS))
MESSAGES_OF_HOUR, MESSAGES_OF_SENDS = (text(MESSAGES.format(which=which)) for which in (OF_HOUR, OF_SENDS))
FORGET = text("DELETE FROM usage WHERE began_at = :hour AND NOT kept")
COUNT = text(
    """
    INSERT INTO usage (began_at, account_id, sender_id, lane, country, status, messages, credits)
    SELECT :hour, u.*
      FROM unnest(CAST(:account AS bigint[]), CAST(:sender AS text[]), CAST(:lane AS int[]), CAST(:country AS text[]),
                  CAST(:status AS message_status[]), CAST(:messages AS bigint[]), CAST(:credits AS bigint[])) AS u
    """
)
COUNTED = text(
    """
    UPDATE usage_hour
       SET counters = :counters, final = :final, counted_at = now(), due_at = now() + make_interval(secs => :rest)
     WHERE began_at = :hour
    """
)


class Key(NamedTuple):
    """The dimensions by which messages are counted within an hour."""

    account: int
    sender: str
    lane: int
    country: str
    status: str


class UsageCounter:
    """The counting thread of one worker process. It has its own engine, as a count reads many rows."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def start(self, stop: threading.Event) -> None:
        """Count what is due every CHECK_SECONDS, in a background thread, until `stop` is set."""

        def count_due() -> None:
            while self.count_one() and not stop.is_set():
                pass

        repeat(count_due, CHECK_SECONDS, "usage", stop)

    def count_one(self) -> datetime | None:
        """Count the hour that has been due longest. Returns it; None if none is due, or another worker counts."""
        began = time.monotonic()
        snapshot = {"isolation_level": "REPEATABLE READ"}
        hour: datetime | None = None
        with (
            attempt(self._engine, "usage") as job,
            self._engine.connect().execution_options(**snapshot) as connection,
            connection.begin(),
        ):
            connection.execute(LONG)
            if not connection.execute(ONE_AT_A_TIME).scalar():
                return None
            connection.execute(BEGIN)
            due = connection.execute(DUE).one_or_none()
            if due is not None:
                hour = due.began_at
                job.begin(due.name, None, due.failures)
                _count(connection, due.began_at, began)
        return hour


def _count(connection: Connection, hour: datetime, began: float) -> None:
    row = connection.execute(HOUR_ROW, {"hour": hour}).one()
    span = {"first": first_id_at(hour), "last": first_id_at(hour + HOUR)}
    sums = connection.execute(SUMS_OF_HOUR, span).all()
    counters = [sum(int(each[column]) for each in sums) for column in range(3, 4 + len(STORED))]
    if counters != row.counters:
        _replace(connection, hour, _messages(sums, connection.execute(MESSAGES_OF_HOUR, span)))
    age = row.now - hour - HOUR
    accepted, by_status = counters[0], dict(zip(STORED, counters[1:], strict=True))
    waiting = accepted - sum(by_status.values()) + sum(by_status[status] for status in OPEN)
    rest = max(CHECK_SECONDS, age.total_seconds() / 2, PATIENCE * (time.monotonic() - began))
    connection.execute(
        COUNTED, {"hour": hour, "counters": counters, "final": age > FINAL_AFTER and not waiting, "rest": rest}
    )


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
            for status in STORED
        }
    )
    for row in rows:
        key = Key(row.account_id, row.sender_id, row.lane, country_of(row.prefix) or "", row.status)
        messages[key] += row.messages
        credits[key] += int(row.credits)
        without_row[key._replace(country="")] -= row.messages
    messages.update(without_row)
    return {key: (count, credits[key]) for key, count in messages.items() if count}


def _replace(connection: Connection, hour: datetime, counts: dict[Key, tuple[int, int]]) -> None:
    connection.execute(FORGET, {"hour": hour})
    connection.execute(COUNT, {"hour": hour, **columns_of(counts)})


def columns_of(counts: dict[Key, tuple[int, int]]) -> dict[str, list[Any]]:
    """The counts as columns, for statements with array parameters."""
    columns = {name: [getattr(key, name) for key in counts] for name in Key._fields}
    numbers = {"messages": [each[0] for each in counts.values()], "credits": [each[1] for each in counts.values()]}
    return {**columns, **numbers}
