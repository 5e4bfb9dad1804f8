"""Counts messages by status: in the counters of their sends, and for `GET /metrics`.

The counters of sends change in the transaction that writes or updates the messages, so they match the rows at every
commit.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from shared.db.connection import array, uuids
from shared.lifecycle import LANES, STORED_STATUSES
from shared.observability.metrics import MESSAGES, RECEIPT_DELAY
from shared.sends import send_states
from shared.sms.countries import country_of

Changes = dict[UUID, Counter[str]]
"""Increments of the counters, by send and status."""

MessageCounts = Counter[tuple[str, int | None, str]]
"""Messages by status, lane (None: unknown) and the first digits of the phone."""

LOCK = text("SELECT id FROM send WHERE id = ANY(CAST(:ids AS uuid[])) ORDER BY id FOR UPDATE")
"""Locks sends in the order of their ids, so that transactions which update several of them cannot deadlock."""

SUMS = ", ".join(f"{status} = s.{status} + c.{status}" for status in STORED_STATUSES)
ARRAYS = "CAST(:id AS uuid[]), " + ", ".join(f"CAST(:{status} AS int[])" for status in STORED_STATUSES)
NAMES = "id, " + ", ".join(STORED_STATUSES)

ADD = text(f"UPDATE send s SET {SUMS} FROM unnest({ARRAYS}) AS c ({NAMES}) WHERE s.id = c.id")
"""Adds to all counters of many sends at once, given as literals of arrays: one per cycle and receipt window."""

ADD_AND_CLOSE = text(
    f"""
    UPDATE send s
       SET {SUMS}, {send_states.BATCHES_CLOSED}
      FROM unnest({ARRAYS}, CAST(:closed AS int[])) AS c ({NAMES}, closed)
     WHERE s.id = c.id
    RETURNING s.id, s.account_id, s.state
    """
)
"""The same, and completes sends: in one statement, so that a send is completed with the counts of its last batch."""


def add_to_sends(connection: Connection, changes: Changes) -> None:
    """Add to each send's counters. The sends are locked in the order of their ids."""
    ids = in_order(send for send, counter in changes.items() if any(counter.values()))
    if not ids:
        return
    if len(ids) > 1:
        connection.execute(LOCK, {"ids": uuids(ids)})
    connection.execute(ADD, _columns(ids, changes))


def in_order(ids: Iterable[UUID]) -> list[UUID]:
    """The ids in the order in which sends are locked: that of Postgres's uuid type."""
    return sorted(ids, key=attrgetter("int"))


def add_and_close(connection: Connection, changes: Changes, closed: Counter[UUID]) -> list[tuple[UUID, int, str]]:
    """Add to the sends' counters, and subtract the `closed` batches from their open ones.

    Completes sends whose last batch is closed. The transaction must hold the sends' locks. Returns id, account and
    state of the sends with closed batches.
    """
    ids = in_order({send for send, counter in changes.items() if any(counter.values())} | {*+closed})
    if not ids:
        return []
    counts = array(closed[send] for send in ids)
    rows = connection.execute(ADD_AND_CLOSE, {**_columns(ids, changes), "closed": counts}).all()
    return [(send, account, state) for send, account, state in rows if closed[send]]


def _columns(ids: list[UUID], changes: Changes) -> dict[str, Any]:
    nothing: Counter[str] = Counter()
    counters = [changes.get(send, nothing) for send in ids]
    return {
        "id": uuids(ids),
        **{str(status): array(counter[status] for counter in counters) for status in STORED_STATUSES},
    }


def count_messages(carrier: str, counts: MessageCounts) -> None:
    """Count messages that have changed their status."""
    for (status, lane, prefix), messages in counts.items():
        MESSAGES.labels(str(status), carrier, _category(lane), country_of(prefix) or "").inc(messages)


def count_delays(carrier: str, lane: int | None, delays: Collection[float]) -> None:
    """Count the seconds from submit to receipt, one for each message."""
    histogram = RECEIPT_DELAY.labels(carrier, _category(lane))
    for delay in delays:
        histogram.observe(max(0.0, delay))


def initialize_delays(carrier: str) -> None:
    """Expose the receipt delays of a carrier in every category, also before the first receipt."""
    for lane in (None, *range(len(LANES))):
        RECEIPT_DELAY.labels(carrier, _category(lane))


def _category(lane: int | None) -> str:
    return "" if lane is None else str(LANES[lane])
