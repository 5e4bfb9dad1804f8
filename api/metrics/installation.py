"""The state of the installation, read from the database at each scrape. Every API host shows the same.

What is counted in tables that grow comes from `counts.py`: a scrape itself only reads tables whose size does not depend
on the load.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import Connection, Engine, Select, extract, func, select

from api.metrics.counts import VALUES, last_counts
from shared.audit.results import RECENT_BREACHES
from shared.db.connection import reading
from shared.db.expressions import is_live
from shared.db.replica import Replica
from shared.db.tables.carriers import carrier_report
from shared.db.tables.running import audit_result, installation, lease
from shared.lifecycle import LANES
from shared.sends.sendable import MAX_REPORT_AGE

REPORTED = carrier_report.c.reported_at > func.clock_timestamp() - timedelta(seconds=MAX_REPORT_AGE)
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
    "unknown_answers": ("bulksms_carrier_unmatched_responses", "Responses from the carrier that match no request."),
}


KNOWN_CARRIERS = select(carrier_report.c.carrier).distinct()
"""Those that a worker had in the last day: housekeeping deletes older reports."""


def _processes(prefix: str) -> Select[int]:
    return select(func.count()).where(lease.c.name.startswith(prefix), is_live(lease.c.held_until))


OFFSETS = select(
    extract("epoch", func.clock_timestamp()).label("now"),
    func.coalesce(func.max(func.abs(lease.c.clock_offset)), 0.0).label("of_workers"),
).where(is_live(lease.c.held_until))
LAST_AUDIT = select(extract("epoch", audit_result.c.completed_at)).order_by(audit_result.c.id.desc()).limit(1)
NOW: dict[str, tuple[str, Select[Any]]] = {
    "bulksms_workers": ("Running worker processes.", _processes("worker:")),
    "bulksms_webhook_processes": ("Running processes that post events to webhooks.", _processes("webhooks:")),
    "bulksms_guard_held": (
        "Whether sending is stopped because the database has lost commits.",
        select(func.count()).where(installation.c.held_since.is_not(None)),
    ),
    "bulksms_audit_breaches": ("Most breaches that one audit of the last day found.", RECENT_BREACHES),
}
"""Read at each scrape: few rows, whatever the load."""


class InstallationCollector(Collector):
    """Collects the gauges from the database at each scrape."""

    def __init__(self, engine: Engine, replica: Replica | None = None) -> None:
        self._engine = engine
        self._replica = replica

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every gauge."""
        counts, counted_at = last_counts(self._engine)
        with reading(self._engine) as connection:
            known = connection.execute(KNOWN_CARRIERS).scalars().all()
            families = [*_carriers(connection), _last_audit(connection), _clock_offset(connection)]
            values = {name: connection.execute(query).scalar_one() for name, (_, query) in NOW.items()}
        yield from families
        yield from _doubts(counts.get("doubts", ()), known)
        yield from _queue(counts.get("queue", ()))
        values |= counts.get("values", {})
        for name, (description, _) in (NOW | VALUES).items():
            if name in values:
                yield GaugeMetricFamily(name, description, value=float(values[name]))
        counted = _gauge("bulksms_counted_timestamp_seconds", "When the state was last counted, as Unix time.")
        if counted_at is not None:
            counted.add_metric([], counted_at.timestamp())
        yield counted
        lag = _gauge("bulksms_replica_lag_seconds", "How far the replica is behind; +Inf if it does not answer.")
        if self._replica is not None:
            lag.add_metric([], self._replica.lag())
        yield lag


def _clock_offset(connection: Connection) -> GaugeMetricFamily:
    offsets = connection.execute(OFFSETS).one()
    of_this_host = abs(time.time() - float(offsets.now))
    return GaugeMetricFamily(
        "bulksms_clock_offset_seconds",
        "How far the clocks of workers, or of this API host, are off the database's: the largest of them.",
        value=max(of_this_host, float(offsets.of_workers)),
    )


def _last_audit(connection: Connection) -> GaugeMetricFamily:
    family = _gauge(
        "bulksms_audit_completed_timestamp_seconds",
        "When the last audit of the ledger was completed, as Unix time.",
    )
    completed = connection.execute(LAST_AUDIT).scalar()
    if completed is not None:
        family.add_metric([], float(completed))
    return family


def _doubts(rows: Iterable[Mapping[str, Any]], known: Iterable[str]) -> list[GaugeMetricFamily]:
    """Each known carrier has a value from the start: an alert on growth would not see a series that begins high."""
    messages = _gauge("bulksms_messages_in_doubt", "Messages submitted without a response from the carrier.", "carrier")
    oldest = _gauge("bulksms_oldest_doubt_seconds", "Age of the oldest message in doubt.", "carrier")
    doubts = dict.fromkeys(known, (0.0, 0.0)) | {row["carrier"]: (row["messages"], row["oldest"]) for row in rows}
    for carrier, (number, age) in sorted(doubts.items()):
        messages.add_metric([carrier], number)
        oldest.add_metric([carrier], age)
    return [messages, oldest]


def _queue(rows: Iterable[Mapping[str, Any]]) -> list[GaugeMetricFamily]:
    labels = ("state", "category", "carrier")
    batches = _gauge(
        "bulksms_batches",
        "Unfinished batches by state, or by what they wait for. Those awaiting a carrier name one of theirs.",
        *labels,
    )
    messages = _gauge("bulksms_batch_messages", "Messages without a result, of unfinished batches.", *labels)
    oldest = _gauge(
        "bulksms_oldest_queued_seconds",
        "For how long the oldest batch that may be sent has been due or has waited for a carrier.",
        "category",
    )
    single = _gauge("bulksms_oldest_single_queued_seconds", "The same of sends to one phone number only.", "category")
    ages = {column: dict.fromkeys(map(str, LANES), 0.0) for column in ("oldest", "oldest_single")}
    for row in rows:
        category = _category(row["lane"])
        batches.add_metric([row["state"], category, row["carrier"]], row["batches"])
        messages.add_metric([row["state"], category, row["carrier"]], row["messages"])
        for column, of_category in ages.items():
            of_category[category] = max(row[column] or 0.0, of_category.get(category, 0.0))
    for family, column in ((oldest, "oldest"), (single, "oldest_single")):
        for category, age in ages[column].items():
            family.add_metric([category], age)
    return [batches, messages, oldest, single]


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


def _category(lane: float | None) -> str:
    return "" if lane is None else str(LANES[int(lane)])
