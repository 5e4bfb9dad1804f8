"""Statements: what moved an account's balance in a month (UTC), by the time of posting.

    opening + credits of all lines = closing

Both are available and reserved credits together, so that a charge is a capture. Credits that leave are negative.

Workers count on every hour, and readers add what was posted since. An entry has its time before its transaction
commits, so only what is older than all transactions that may still post is counted: then each entry is in one
statement, and a closed one never changes, whatever is forgotten or archived.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import insert

from shared.db.advisory_locks import STATEMENTS
from shared.db.tables.accounts import account
from shared.db.tables.money import statement
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.lifecycle import LANES, EventType
from shared.outbox import add
from shared.sends.batch_prices import PRICE, SEGMENTS

KINDS: Final = ("topup", "reversal", "adjustment", "capture", "refund")
"""The kinds of entries that move the balance, in the order of lines; and the names of their sums."""
SUMS: Final = ("top_ups", "reversals", "adjustments", "charges", "refunds")
WHAT: Final = ("kind", "month", "sender_id", "category", "price")
AMOUNTS: Final = ("messages", "segments", "credits")
HELD: Final = "('available', 'reserved')"
CATEGORIES: Final = " ".join(f"WHEN {lane} THEN '{category}'" for lane, category in enumerate(LANES))
WAIT_SECONDS = 5.0

POSTED = text(
    f"""
    SELECT kind, month, sender_id, category, price, CAST(sum(messages) AS bigint) AS messages,
           CAST(sum(messages * segments) AS bigint) AS segments, CAST(sum(credits) AS bigint) AS credits,
           max(id) FILTER (WHERE created_at < CAST(:until AS timestamptz) - interval '1 hour') AS ledger_id
      FROM (SELECT l.id, l.kind, l.created_at, s.sender_id, CASE s.lane {CATEGORIES} END AS category, {PRICE} AS price,
                   l.amount / {PRICE} AS messages, {SEGMENTS} AS segments,
                   CASE WHEN l.credit IN {HELD} THEN l.amount ELSE -l.amount END AS credits,
                   CASE WHEN l.kind = 'refund' THEN
                        (SELECT to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM') FROM ledger c
                          WHERE c.account_id = l.account_id AND c.kind = 'capture' AND c.subject >= b.id
                            AND c.subject <= CAST(overlay(b.id::text placing 'ffff' from 33) AS uuid)
                          ORDER BY c.subject <> l.subject, c.id LIMIT 1) END AS month
              FROM ledger l
              LEFT JOIN batch b ON l.subject_type IN ('batch', 'message') AND b.id = batch_of(l.subject)
              LEFT JOIN send s ON s.id = b.send_id
             WHERE l.account_id = :account AND l.id > :after AND l.created_at >= :since AND l.created_at < :until
               AND (l.debit IN {HELD}) <> (l.credit IN {HELD})) AS posted
     GROUP BY kind, month, sender_id, category, price
    """
)
"""Sums within the database, over what neither retention nor an archive takes away. It reads on from an id, as there is
no index by time: an entry's id and time are taken together, so their orders differ by less than an hour."""
WRITERS = text(
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND relation = 'ledger'::regclass"
    " AND mode = 'RowExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
"""The transactions that may have posted. Each takes this lock before it posts, and keeps it until others see its end
(PostgreSQL documentation, "Explicit Locking"); CREATE INDEX CONCURRENTLY waits in the same way."""
CREATED = select(account.c.created_at, func.clock_timestamp().label("now")).where(account.c.id == bindparam("account"))
STORED = (
    select(statement)
    .where(statement.c.account_id == bindparam("account"), statement.c.month <= bindparam("to"))
    .order_by(statement.c.month.desc())
    .limit(bindparam("most"))
)
NEW = insert(statement)
STORE = NEW.on_conflict_do_update(
    index_elements=["account_id", "month"],
    set_={name: NEW.excluded[name] for name in ("lines", "counted_to", "ledger_id", "closed_at")},
    where=statement.c.closed_at.is_(None),
)


class Statement(NamedTuple):
    """A month of an account as far as it is counted: a row of the table, of which it has the names."""

    account_id: int
    month: date
    opening: int = 0
    lines: Sequence[dict[str, Any]] = ()
    counted_to: datetime = datetime(1, 1, 1, tzinfo=UTC)
    ledger_id: int = 0
    closed_at: datetime | None = None

    def as_dict(self) -> dict[str, Any]:
        """The statement as all faces show it."""
        sums = dict.fromkeys(SUMS, 0)
        for line in self.lines:
            sums[SUMS[KINDS.index(line["kind"])]] += line["credits"]
        month = {"month": f"{self.month:%Y-%m}", "closed": self.closed_at is not None, "opening": self.opening}
        return {**month, **sums, "closing": self.opening + sum(sums.values()), "lines": self.lines}

    def rows(self) -> list[dict[str, Any]]:
        """The lines between the two balances, as the rows of a table."""
        nothing = dict.fromkeys((*WHAT, *AMOUNTS))
        first, last = ({**nothing, "kind": end, "credits": self.as_dict()[end]} for end in ("opening", "closing"))
        return [first, *self.lines, last]


def read_statements(connection: Connection, account_id: int, to: date = date.max, most: int = 999) -> list[Statement]:
    """An account's statements from the one of a month back, newest first: one for each month since it was created."""
    row = connection.execute(CREATED, {"account": account_id}).one()
    last = min(to, row.now.date().replace(day=1))
    found = _stored(connection, account_id, row.created_at, last, most)
    while found[-1].counted_to < _end(last):
        found.append(_continued(connection, found[-1]))
    months = {each.month: each for each in found if each.month <= last}
    return list(months.values())[::-1][:most]


def read_statement(connection: Connection, account_id: int, month: str) -> Statement | None:
    """An account's statement of a month such as 2026-11; None if it has none."""
    if not re.fullmatch("2[0-9]{3}-(0[1-9]|1[0-2])", month):
        return None
    day = date.fromisoformat(f"{month}-01")
    found = read_statements(connection, account_id, day, 1)
    return found[0] if found and found[0].month == day else None


def writers_end(connection: Connection) -> bool:
    """Wait until all transactions have ended that may have posted by now. False if that takes too long."""
    deadline, writers = time.monotonic() + WAIT_SECONDS, set(connection.execute(WRITERS).scalars())
    while writers and time.monotonic() < deadline:
        time.sleep(0.05)
        writers.intersection_update(connection.execute(WRITERS).scalars())
    return not writers


def count_on(connection: Connection, account_id: int, until: datetime) -> bool:
    """Count on to that time, or close the month, which is an event. Returns which. `writers_end` must be true since."""
    connection.execute(ALLOW_LONG_STATEMENTS)
    if not connection.execute(select(func.pg_try_advisory_xact_lock(STATEMENTS))).scalar():
        return False
    row = connection.execute(CREATED, {"account": account_id}).one()
    counted = _continued(connection, _stored(connection, account_id, row.created_at, date.max, 1)[0], until)
    closes = counted.counted_to == _end(counted.month)
    counted = counted._replace(closed_at=row.now if closes else None)
    connection.execute(STORE, counted._asdict())
    if closes:
        data = {name: value for name, value in counted.as_dict().items() if name != "lines"}
        add(connection, account_id, EventType.STATEMENT_CLOSED, data)
    return closes


def _stored(connection: Connection, id: int, created_at: datetime, to: date, most: int) -> list[Statement]:
    """What is stored of an account, oldest first; its empty first month if nothing is."""
    found = [Statement(*row) for row in connection.execute(STORED, {"account": id, "to": to, "most": most})]
    return found[::-1] or [Statement(id, created_at.date().replace(day=1))]


def _continued(connection: Connection, last: Statement, until: datetime | None = None) -> Statement:
    """The statement with what was posted since, up to a time or the end of its month; after that, the next month's."""
    end = _end(last.month)
    if last.counted_to >= end:
        last = Statement(last.account_id, end.date(), last.as_dict()["closing"], (), end, last.ledger_id)
        end = _end(last.month)
    until = max(last.counted_to, min(until or end, end))
    span = {"account": last.account_id, "after": last.ledger_id, "since": last.counted_to, "until": until}
    rows = [dict(row._mapping) for row in connection.execute(POSTED, span)]
    ledger_id = max(last.ledger_id, *(row["ledger_id"] or 0 for row in rows), 0)
    return last._replace(lines=_sums([*last.lines, *rows]), counted_to=until, ledger_id=ledger_id)


def _sums(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines with those about the same added up, in an order that depends on nothing else."""
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in lines:
        what = tuple(line[name] for name in WHAT)
        known = sums.setdefault(what, dict(zip(WHAT, what, strict=True)) | dict.fromkeys(AMOUNTS, 0))
        known.update({name: known[name] + (line[name] or 0) for name in AMOUNTS})
    order = sorted(sums, key=lambda each: (KINDS.index(each[0]), *(name or "" for name in each[1:4]), each[4] or 0))
    return [sums[what] for what in order]


def _end(month: date) -> datetime:
    return datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)
