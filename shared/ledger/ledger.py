"""The ledger: double entry, append-only, every operation posted exactly once.

    topup    funding   → available      reserve  available → reserved
    capture  reserved  → revenue        release  reserved  → available
    refund   revenue   → available      reversal available → funding (of a top-up)
    adjustment funding → available, or the reverse

`available` is negative where an account owes credits; a reserve may take it as far as its `credit_limit` below 0. The
account's row caches `available` and `reserved`; the row and the ledger change in the same transaction, and the
account's row is the last thing a transaction locks, because the lock is held until the commit is on the disk.

`post` is the general way. The two frequent operations, the reserve of accepted sends and the settlement of batches
whose messages all have a result, are part of larger statements (`api/commit/commit.py`,
`worker/sending/settle_complete.py`), which take their SQL from here. No other module writes to the ledger or to an
account's credits.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from shared.db.connection import array, uuids
from shared.ids import new_batch_id
from shared.lifecycle import EventType

Kind = Literal["topup", "reserve", "capture", "release", "refund", "reversal", "adjustment"]

BOOKS: dict[Kind, tuple[str, str]] = {
    "topup": ("funding", "available"),
    "reserve": ("available", "reserved"),
    "capture": ("reserved", "revenue"),
    "release": ("reserved", "available"),
    "refund": ("revenue", "available"),
    "reversal": ("available", "funding"),
    "adjustment": ("funding", "available"),
}

REMAINDER = -1
"""The step of the one entry that releases what is left of a batch's or send's reserve."""


class ReserveRefused(Exception):
    """Credits and credit limit do not cover a reserve, or the account may not spend. Nothing was posted."""


class Entry(NamedTuple):
    """A row to post: `amount` credits of one account, for one subject. That of an adjustment may be negative.

    `(subject, kind, step)` is posted at most once. For a batch the step is the epoch of the cycle that settled it.
    """

    account_id: int
    kind: Kind
    amount: int
    subject_type: Literal["topup", "adjustment", "send", "batch", "message"]
    subject: UUID
    step: int = 0
    reason: str | None = None

    @property
    def books(self) -> tuple[str, str]:
        """The books that the credits leave and enter."""
        debit, credit = BOOKS[self.kind]
        return (debit, credit) if self.amount > 0 else (credit, debit)


INSERT = text(
    """
    INSERT INTO ledger (account_id, kind, debit, credit, amount, subject_type, subject, step, reason)
    SELECT * FROM unnest(CAST(:account AS bigint[]), CAST(:kind AS text[]), CAST(:debit AS text[]),
                         CAST(:credit AS text[]), CAST(:amount AS bigint[]), CAST(:subject_type AS text[]),
                         CAST(:subject AS uuid[]), CAST(:step AS int[]), CAST(:reason AS text[]))
    """
)
"""Entries are only ever inserted. A unique index on (subject, kind, step) refuses an operation that was posted before,
and any number of entries takes one round trip."""

_COLUMNS = "account_id, kind, debit, credit, amount, subject_type, subject"


def _books(kind: Kind) -> str:
    return ", ".join(f"'{book}'" for book in BOOKS[kind])


RESERVE_SENDS = f"""
    INSERT INTO ledger ({_COLUMNS})
    SELECT account_id, 'reserve', {_books("reserve")}, cost, 'send', id FROM new_send WHERE cost > 0
"""
"""SQL: the entries of the sends in `new_send` (id, account_id, cost), within the statement that accepts them."""
MAY_SPEND = "a.state = 'active' AND a.available + a.credit_limit >= {cost}"
"""SQL: whether an account `a` may reserve `{cost}`. A trigger of the table refuses what this would have to."""
RESERVED = f"""
    available = CASE WHEN {MAY_SPEND.format(cost="d.cost")} THEN a.available - d.cost END,
    reserved = a.reserved + d.cost, updated_at = clock_timestamp()
"""
"""SQL: the assignments to an account `a` for which `d.cost` is reserved. `available` may not be null, so the statement
fails if the account may not spend them."""

SETTLE_BATCHES = f"""
    INSERT INTO ledger ({_COLUMNS}, step)
    SELECT e.account_id, p.kind, p.debit, p.credit, p.amount, 'batch', e.id, e.epoch
      FROM ended e
     CROSS JOIN LATERAL (VALUES ('capture', {_books("capture")}, e.captured),
                                ('release', {_books("release")}, e.released)) AS p (kind, debit, credit, amount)
     WHERE p.amount > 0
"""
"""SQL: the entries of the batches in `ended` (id, account_id, epoch, captured, released), within the statement that
ends them."""
SETTLED = """
    available = a.available + d.released, reserved = a.reserved - d.captured - d.released,
    updated_at = clock_timestamp()
"""
"""SQL: the assignments to an account `a` of which `d.captured` and `d.released` were reserved."""

ADD_LOW_BALANCE = f"""
    INSERT INTO event (id, account_id, type, data)
    SELECT ({{ids}} ->> p.id::text)::uuid, p.id, '{EventType.BALANCE_LOW}',
           json_build_object('balance', p.available, 'low_balance_threshold', p.threshold)
      FROM paid p JOIN listener l ON l.account_id = p.id WHERE p.available < p.threshold AND p.before >= p.threshold
"""
"""SQL: adds an event for each account in `paid` (id, available, before, threshold) whose balance, which includes its
credit limit, fell below its threshold. `{ids}` is the event's id by account, as JSON."""
FALL = text(
    f"""
    WITH paid AS (
        SELECT a.id, b.available, b.available + d.less AS before, a.low_balance_threshold AS threshold
          FROM unnest(CAST(:id AS bigint[]), CAST(:less AS bigint[])) AS d (id, less) JOIN account a ON a.id = d.id
         CROSS JOIN LATERAL (SELECT a.available + a.credit_limit AS available) AS b
    )
    {ADD_LOW_BALANCE.format(ids="CAST(:events AS json)")}
    """
)
"""The same for accounts whose balance is `less` than before. Of postings that raise the balance, nothing is asked."""
LOCK = text("SELECT 1 FROM account WHERE id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE")
"""Locks the accounts in the order of their ids, so that transactions that post to several do not deadlock."""

MOVE = text(
    f"""
    UPDATE account a
       SET available = a.available + d.available, reserved = a.reserved + d.reserved, updated_at = clock_timestamp()
      FROM unnest(CAST(:id AS bigint[]), CAST(:available AS bigint[]), CAST(:reserved AS bigint[]))
           AS d (id, available, reserved)
     WHERE a.id = d.id AND (NOT :spending OR ({MAY_SPEND.format(cost="-d.available")}))
    RETURNING a.id, a.available + a.credit_limit AS available
    """
)
"""Moves the credits of all accounts in one statement. When spending, an account that is short of credits or not active
is left out of the result, and the caller rolls back."""


def post(connection: Connection, entries: Iterable[Entry]) -> dict[int, int]:
    """Write the entries and move the accounts' credits with them, in the connection's transaction.

    Entries of 0 credits are left out. An account whose balance falls below its threshold gets an event. Returns what
    each account can spend afterwards. Raises ReserveRefused where a reserve is not covered (the transaction must
    be rolled back), IntegrityError where an operation was posted before.
    """
    rows = [entry for entry in entries if entry.amount]
    if not rows:
        return {}
    changes: dict[int, list[int]] = {}
    for entry in rows:
        change = changes.setdefault(entry.account_id, [0, 0])
        for book, sign in zip(entry.books, (-1, 1), strict=True):
            if book in ("available", "reserved"):
                change[book == "reserved"] += sign * abs(entry.amount)
    accounts, kinds, amounts, subject_types, subjects, steps, reasons = zip(*rows, strict=True)
    connection.execute(
        INSERT,
        {
            "account": array(accounts),
            "kind": array(kinds),
            "debit": array(entry.books[0] for entry in rows),
            "credit": array(entry.books[1] for entry in rows),
            "amount": array(map(abs, amounts)),
            "subject_type": array(subject_types),
            "subject": uuids(subjects),
            "step": array(steps),
            "reason": list(reasons),
        },
    )
    left = _move(connection, changes, spending="reserve" in kinds)
    report_low_balances(connection, {account: -moved for account, (moved, _) in changes.items() if moved < 0})
    return left


def report_low_balances(connection: Connection, falls: Mapping[int, int]) -> None:
    """Add an event for each account whose balance fell below its threshold.

    `falls` says by account how much less the balance is now; or how much more the threshold, which is the same.
    """
    if falls:
        events = json.dumps({account: str(new_batch_id()) for account in falls})
        connection.execute(FALL, {"id": list(falls), "less": list(falls.values()), "events": events})


def _move(connection: Connection, changes: dict[int, list[int]], spending: bool) -> dict[int, int]:
    """Apply each account's (available, reserved) change. Several accounts are locked in the order of their ids."""
    ids = sorted(changes)
    if len(ids) > 1:
        connection.execute(LOCK, {"ids": ids})
    moved = connection.execute(
        MOVE,
        {
            "id": ids,
            "available": [changes[account][0] for account in ids],
            "reserved": [changes[account][1] for account in ids],
            "spending": spending,
        },
    )
    left = {row.id: row.available for row in moved}
    if len(left) != len(ids):
        raise ReserveRefused(sorted(set(ids) - set(left)))
    return left
