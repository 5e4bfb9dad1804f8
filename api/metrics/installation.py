"""The state of the installation, read from the database at each scrape. Every API host shows the same."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    Table,
    extract,
    func,
    literal_column,
    select,
    text,
)

from shared.db.connection import reading
from shared.db.expressions import in_constants
from shared.db.replica import Replica
from shared.db.tables.accounts import account
from shared.db.tables.carriers import carrier_report
from shared.db.tables.contacts import contact_import
from shared.db.tables.messages import doubt, receipt, unreadable_receipt
from shared.db.tables.running import installation, job_failure, lease
from shared.db.tables.sends import send
from shared.db.tables.webhooks import delivery, webhook
from shared.lifecycle import LANES, SendState
from shared.sends.sendable import AWAITED_SINCE, AWAITS_CARRIER

DOUBTS = (
    select(
        doubt.c.carrier,
        func.count().label("messages"),
        extract("epoch", func.clock_timestamp() - func.min(doubt.c.submitted_at)).label("oldest"),
    )
    .group_by(doubt.c.carrier)
    .order_by(doubt.c.carrier)
)
QUEUE = text(
    f"""
    SELECT CASE WHEN {AWAITS_CARRIER} THEN 'awaiting_carrier' ELSE CAST(b.state AS text) END AS state, b.lane,
           coalesce(split_part(b.carrier, '/', 1), '') AS carrier, count(*) AS batches,
           sum(b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0)) AS messages,
           extract(epoch FROM clock_timestamp() - min(b.due_at)) AS oldest
      FROM batch b WHERE b.state IN ('waiting', 'queued', 'sending', 'paused', 'held')
     GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    """
)
"""Unfinished batches. SQL, as what awaits a carrier is a condition that workers share."""
AWAITING = text(
    f"""
    SELECT b.lane, extract(epoch FROM clock_timestamp() - min({AWAITED_SINCE})) AS oldest
      FROM batch b JOIN send s ON s.id = b.send_id WHERE {AWAITS_CARRIER} GROUP BY 1
    """
)
"""Batches that wait for a carrier, with the same condition."""
REPORTED = carrier_report.c.reported_at > func.clock_timestamp() - timedelta(seconds=5)
CARRIERS = (
    select(
        carrier_report.c.carrier,
        func.max(carrier_report.c.rate).label("rate"),
        func.min(carrier_report.c.allowed).label("allowed"),
        *(func.sum(carrier_report.c[name]).label(name) for name in ("window", "unreadable", "unknown_answers")),
    )
    .where(REPORTED)
    .group_by(carrier_report.c.carrier)
    .order_by(carrier_report.c.carrier)
)
CARRIER_STATES = (
    select(*carrier_report.c["carrier", "state"])
    .add_columns(func.count().label("workers"))
    .where(REPORTED)
    .group_by(carrier_report.c.carrier, carrier_report.c.state)
)
STATES_OF_CARRIER = ("ready", "paused", "down", "open", "probing")
OF_CARRIERS = {
    "rate": ("bulksms_carrier_rate", "Configured segments per second of all workers together; 0 is unlimited."),
    "allowed": ("bulksms_carrier_allowed_rate", "Segments per second currently allowed, after throttling."),
    "window": ("bulksms_carrier_window", "Messages that may be unanswered at a time, of all workers together."),
    "unreadable": ("bulksms_carrier_unreadable", "Receipts and other PDUs from the carrier that could not be read."),
    "unknown_answers": ("bulksms_carrier_unknown_answers", "Responses from the carrier that match no request."),
}


def _count(of: Table, *conditions: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).select_from(of).where(*conditions)


def _credits(column: Column[int]) -> Select[int]:
    """Credits of all live accounts."""
    return select(func.coalesce(func.sum(column), 0)).where(account.c.sandbox_of.is_(None))


def _processes(prefix: str) -> Select[int]:
    return _count(lease, lease.c.name.startswith(prefix), lease.c.held_until > func.clock_timestamp())


WAS_RESENT = send.c.resent > literal_column("0")
ONE_VALUE: dict[str, tuple[str, Select[Any]]] = {
    "bulksms_sends_held": (
        "Sends that wait for an operator.",
        _count(send, send.c.completed_at.is_(None), send.c.state == SendState.HELD),
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
    "bulksms_receipts_unreadable": ("Receipts that could not be read, stored as received.", _count(unreadable_receipt)),
    "bulksms_receipts_unmatched": ("Receipts that match no message.", _count(receipt)),
    "bulksms_workers": ("Running worker processes.", _processes("worker:")),
    "bulksms_webhook_processes": ("Running processes that post events to webhooks.", _processes("webhooks:")),
    "bulksms_webhooks_failing": (
        "Active webhooks whose deliveries are failing.",
        _count(webhook, webhook.c.state == "active", webhook.c.failing_since.is_not(None)),
    ),
    "bulksms_deliveries_pending": (
        "Webhook deliveries that failed and will be retried.",
        _count(delivery, in_constants(delivery.c.state, "pending")),
    ),
    "bulksms_webhooks_disabled": (
        "Webhooks that are disabled because their deliveries failed for too long, or by their owner.",
        _count(webhook, webhook.c.state != "active"),
    ),
    "bulksms_credits_available": ("Credits that accounts can spend.", _credits(account.c.available)),
    "bulksms_credits_reserved": (
        "Credits that are reserved for messages without a result.",
        _credits(account.c.reserved),
    ),
    "bulksms_imports_open": (
        "Imports of contacts that are not completed.",
        _count(contact_import, in_constants(contact_import.c.state, "receiving", "queued", "running")),
    ),
    "bulksms_guard_held": (
        "Whether sending is stopped because the database has lost commits.",
        _count(installation, installation.c.held_since.is_not(None)),
    ),
}


class InstallationCollector(Collector):
    """Collects the gauges from the database at each scrape."""

    def __init__(self, engine: Engine, replica: Replica | None = None) -> None:
        self._engine = engine
        self._replica = replica

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every gauge."""
        with reading(self._engine) as connection:
            families = [*_doubts(connection), *_queue(connection), *_carriers(connection)]
            values = {name: connection.execute(value).scalar_one() for name, (_, value) in ONE_VALUE.items()}
        yield from families
        for name, value in values.items():
            yield GaugeMetricFamily(name, ONE_VALUE[name][0], value=float(value))
        lag = _gauge("bulksms_replica_lag_seconds", "How far the replica is behind; +Inf if it does not answer.")
        if self._replica is not None:
            lag.add_metric([], self._replica.lag())
        yield lag


def _doubts(connection: Connection) -> list[GaugeMetricFamily]:
    messages = _gauge("bulksms_messages_in_doubt", "Messages submitted without a response from the carrier.", "carrier")
    oldest = _gauge("bulksms_oldest_doubt_seconds", "Age of the oldest message in doubt.", "carrier")
    for row in connection.execute(DOUBTS):
        messages.add_metric([row.carrier], row.messages)
        oldest.add_metric([row.carrier], float(row.oldest))
    return [messages, oldest]


def _queue(connection: Connection) -> list[GaugeMetricFamily]:
    labels = ("state", "category", "carrier")
    batches = _gauge("bulksms_batches", "Unfinished batches. Those awaiting a carrier name one of theirs.", *labels)
    messages = _gauge("bulksms_batch_messages", "Messages without a result, of unfinished batches.", *labels)
    description = "How long the next batch has been due or has waited for a carrier."
    oldest = _gauge("bulksms_oldest_queued_seconds", description, "category")
    ages = dict.fromkeys(map(str, LANES), 0.0)
    for row in connection.execute(QUEUE):
        values = [row.state, _category(row), row.carrier]
        batches.add_metric(values, row.batches)
        messages.add_metric(values, float(row.messages))
        if row.state == "queued":
            ages[_category(row)] = max(float(row.oldest), ages.get(_category(row), 0.0))
    for row in connection.execute(AWAITING):
        ages[_category(row)] = max(float(row.oldest), ages.get(_category(row), 0.0))
    for category, age in ages.items():
        oldest.add_metric([category], age)
    return [batches, messages, oldest]


def _carriers(connection: Connection) -> list[GaugeMetricFamily]:
    rows = connection.execute(CARRIERS).all()
    families = []
    for column, (name, description) in OF_CARRIERS.items():
        family = _gauge(name, description, "carrier")
        for row in rows:
            family.add_metric([row.carrier], float(getattr(row, column)))
        families.append(family)
    workers = {(row.carrier, row.state): row.workers for row in connection.execute(CARRIER_STATES)}
    description = "Workers by the carrier's state. A carrier is up as long as one worker is ready."
    states = _gauge("bulksms_carrier_workers", description, "carrier", "state")
    for row in rows:
        for state in STATES_OF_CARRIER:
            states.add_metric([row.carrier, state], workers.get((row.carrier, state), 0))
    return [*families, states]


def _gauge(name: str, description: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, description, labels=labels)


def _category(row: Row[Any]) -> str:
    return "" if row.lane is None else str(LANES[row.lane])
