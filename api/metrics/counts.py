"""What the installation has in tables that grow, counted by one process at a time for all that are scraped.

A scrape reads the last counts from `state_count`, which costs the same for ten batches and a million. If they are old,
the scrape starts a thread of its process that counts again, and waits a moment for it. Counting takes long when much is
waiting, so the next count comes after COUNT_SECONDS, and after REST times as long as this one took.
"""

import logging
import threading
import time
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Interval,
    Row,
    Select,
    Table,
    bindparam,
    extract,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from shared.db.connection import reading, transaction
from shared.db.expressions import in_constants
from shared.db.tables.accounts import account
from shared.db.tables.contacts import contact_import
from shared.db.tables.messages import doubt, receipt, unreadable_receipt
from shared.db.tables.running import job_failure, state_count
from shared.db.tables.sends import send
from shared.db.tables.webhooks import delivery, webhook
from shared.health.events import HELD_BACK
from shared.health.smpp import OLDEST_DELIVERY
from shared.sends.holding import AWAITS_OPERATOR
from shared.sends.sendable import AWAITS_CARRIER, AWAITS_ONLY_CARRIER, MESSAGES_LEFT, UNAVAILABLE_ONLY_CARRIER

log = logging.getLogger(__name__)

COUNT_SECONDS = 5.0
REST = 20.0
"""At most a twentieth of the time is spent counting."""
PATIENCE_SECONDS = 0.1
"""How long a scrape waits for a count."""
TAKEN = timedelta(minutes=2)
"""After so long, another process counts if the one that began has not ended."""

Counts = dict[str, Any]

DOUBTS = select(
    doubt.c.carrier,
    func.count().label("messages"),
    extract("epoch", func.clock_timestamp() - func.min(doubt.c.submitted_at)).label("oldest"),
).group_by(doubt.c.carrier)
QUEUE = text(
    f"""
    WITH closed AS (
        SELECT carrier, min(since) AS since FROM carrier_report WHERE state <> 'ready' GROUP BY carrier
    ), unfinished AS (
        SELECT b.lane, coalesce(split_part(b.carrier, '/', 1),
                                CASE WHEN {AWAITS_ONLY_CARRIER} THEN ({UNAVAILABLE_ONLY_CARRIER}) END, '') AS carrier,
               {MESSAGES_LEFT} AS messages, s.kind,
               CASE WHEN b.state NOT IN ('waiting', 'queued') THEN CAST(b.state AS text)
                    WHEN {AWAITS_CARRIER} OR ({AWAITS_ONLY_CARRIER}) THEN 'awaiting_carrier'
                    WHEN b.state = 'waiting' AND b.attempts > 0 THEN 'retry'
                    WHEN b.state = 'waiting' AND s.rules ? 'quiet' AND s.send_at IS DISTINCT FROM b.due_at
                    THEN 'quiet_hours'
                    WHEN b.state = 'waiting' THEN 'scheduled'
                    WHEN s.rules ? 'canary' AND s.paced_until > clock_timestamp() THEN 'canary'
                    WHEN s.rate IS NOT NULL OR s.paced_until > clock_timestamp() THEN 'rate'
                    WHEN b.carrier LIKE '%/%' THEN 'limit'
                    ELSE 'queued' END AS state,
               b.due_at, CASE b.state WHEN 'queued' THEN b.due_at
                                      ELSE GREATEST(s.created_at, s.send_at, c.since) END AS awaited_since
          FROM batch b JOIN send s ON s.id = b.send_id
          LEFT JOIN closed c ON {AWAITS_CARRIER} AND c.carrier = split_part(b.carrier, '/', 1)
         WHERE b.state IN ('waiting', 'queued', 'sending', 'paused', 'held')
    ), aged AS (
        SELECT *, extract(epoch FROM clock_timestamp() - CASE state WHEN 'awaiting_carrier' THEN awaited_since
                                                                    WHEN 'queued' THEN due_at
                                                                    WHEN 'limit' THEN due_at END) AS age
          FROM unfinished
    )
    SELECT state, lane, carrier, count(*) AS batches, sum(messages) AS messages, max(age) AS oldest,
           max(age) FILTER (WHERE kind = 'single') AS oldest_single
      FROM aged GROUP BY state, lane, carrier
    """
)
"""Unfinished batches by what they wait for. SQL, as what awaits a carrier is a condition that workers share. An age is
only that of a batch which may be sent now, or once its carrier is available."""


def _count(of: Table, *conditions: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).select_from(of).where(*conditions)


def _credits(column: Column[int]) -> Select[int]:
    """Credits of all live accounts."""
    return select(func.coalesce(func.sum(column), 0)).where(account.c.sandbox_of.is_(None))


WAS_RESENT = send.c.resent > literal_column("0")
VALUES: dict[str, tuple[str, Select[Any]]] = {
    "bulksms_sends_held": (
        "Sends that wait for an operator: held by one, or because workers failed repeatedly.",
        _count(send, AWAITS_OPERATOR),
    ),
    "bulksms_messages_resent": (
        "Submits repeated because an earlier one had no response.",
        select(func.coalesce(func.sum(send.c.resent), 0)).where(WAS_RESENT),
    ),
    "bulksms_accounts_frozen": (
        "Accounts frozen because their balance does not match their ledger.",
        _count(account, account.c.state == "frozen"),
    ),
    "bulksms_jobs_set_aside": (
        "Imports, expansions and other jobs that failed repeatedly and wait for an operator.",
        _count(job_failure, job_failure.c.set_aside_at.is_not(None)),
    ),
    "bulksms_receipts_unreadable": (
        "Unreadable receipts of the last hour.",
        _count(unreadable_receipt, unreadable_receipt.c.received_at > func.now() - timedelta(hours=1)),
    ),
    "bulksms_receipts_unmatched": (
        "Unmatched receipts that came 10 to 70 minutes ago.",
        _count(
            receipt,
            receipt.c.received_at > func.now() - timedelta(minutes=70),
            receipt.c.received_at < func.now() - timedelta(minutes=10),
        ),
    ),
    "bulksms_webhooks_failing": (
        "Active webhooks whose deliveries are failing.",
        _count(webhook, webhook.c.state == "active", webhook.c.failing_since.is_not(None)),
    ),
    "bulksms_deliveries_pending": (
        "Webhook deliveries that failed and will be retried.",
        _count(delivery, in_constants(delivery.c.state, "pending")),
    ),
    "bulksms_events_held_back_seconds": (
        "For how long the oldest event has waited for an open transaction.",
        HELD_BACK,
    ),
    "bulksms_webhooks_disabled": (
        "Webhooks that are disabled because their deliveries failed for too long, or by their owner.",
        _count(webhook, webhook.c.state == "disabled"),
    ),
    "bulksms_credits_available": (
        "Credits that accounts have, less what they owe.",
        _credits(account.c.available),
    ),
    "bulksms_credits_reserved": (
        "Credits that are reserved for messages without a result.",
        _credits(account.c.reserved),
    ),
    "bulksms_smpp_server_oldest_delivery_seconds": (
        "For how long the oldest event has waited for a customer's receiver that is bound to the SMPP server.",
        OLDEST_DELIVERY,
    ),
    "bulksms_imports_open": (
        "Imports of contacts that are not completed.",
        _count(contact_import, in_constants(contact_import.c.state, "receiving", "queued", "running")),
    ),
}
"""By metric: its description, and what counts it."""

IS_DUE = or_(state_count.c.due_at <= func.clock_timestamp(), state_count.c.counted_at > func.clock_timestamp())
"""If the last count lies ahead, the clock of the database was set back."""
LAST = select(state_count.c.counts, state_count.c.counted_at, IS_DUE.label("due"))
NEXT_DUE_AT = func.clock_timestamp() + bindparam("seconds", type_=Interval)
NEW = insert(state_count).values(due_at=NEXT_DUE_AT)
TAKE_COUNTING = NEW.on_conflict_do_update(
    index_elements=["id"],
    set_={"due_at": NEW.excluded.due_at},
    where=IS_DUE,
).returning(state_count.c.id)
STORE = update(state_count).values(
    due_at=NEXT_DUE_AT, counted_at=func.clock_timestamp(), counts=bindparam("counted", type_=state_count.c.counts.type)
)


class Counted(NamedTuple):
    """The last counts: `doubts` and `queue` as lists of rows, `values` by metric; and when that was."""

    counts: Counts
    at: datetime | None


def last_counts(engine: Engine) -> Counted:
    """The last counts. If they are due, a thread counts again; this waits up to PATIENCE_SECONDS for it."""
    row = _last(engine)
    if row is None or row.due:
        counting = threading.Thread(target=_count_and_log, args=(engine,), name="state-counts", daemon=True)
        counting.start()
        counting.join(PATIENCE_SECONDS)
        row = _last(engine)
    return Counted({}, None) if row is None or row.counts is None else Counted(row.counts, row.counted_at)


def _last(engine: Engine) -> Row[Any] | None:
    with reading(engine) as connection:
        return connection.execute(LAST).one_or_none()


def _count_and_log(engine: Engine) -> None:
    try:
        count_when_due(engine)
    except Exception:
        log.exception("the state of the installation could not be counted")


def count_when_due(engine: Engine) -> bool:
    """Count, if it is due and no other process does. Returns whether it did."""
    with transaction(engine, durable=False) as connection:
        if connection.execute(TAKE_COUNTING, {"seconds": TAKEN}).one_or_none() is None:
            return False
    begun = time.monotonic()
    with reading(engine) as connection:
        counts = counts_of(connection)
    rest = max(COUNT_SECONDS, REST * (time.monotonic() - begun))
    with transaction(engine, durable=False) as connection:
        connection.execute(STORE, {"seconds": timedelta(seconds=rest), "counted": counts})
    return True


def counts_of(connection: Connection) -> Counts:
    """Count everything, in time that grows with what waits."""
    return {
        "doubts": [_plain(row) for row in connection.execute(DOUBTS).mappings()],
        "queue": [_plain(row) for row in connection.execute(QUEUE).mappings()],
        "values": {name: float(connection.execute(query).scalar_one()) for name, (_, query) in VALUES.items()},
    }


def _plain(row: Any) -> dict[str, str | float | None]:
    return {key: value if value is None or isinstance(value, str) else float(value) for key, value in row.items()}
