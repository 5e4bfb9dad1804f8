"""The state of the installation, read from the database at each scrape. Every API host shows the same."""

from collections.abc import Iterator
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import Connection, Engine, Row, text

from shared.db.connection import reading
from shared.lifecycle import LANES
from shared.sends.sendable import AWAITED_SINCE, AWAITS_CARRIER

DOUBTS = text(
    """
    SELECT carrier, count(*) AS messages, extract(epoch FROM clock_timestamp() - min(submitted_at)) AS oldest
      FROM doubt GROUP BY carrier ORDER BY carrier
    """
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
AWAITING = text(
    f"""
    SELECT b.lane, extract(epoch FROM clock_timestamp() - min({AWAITED_SINCE})) AS oldest
      FROM batch b JOIN send s ON s.id = b.send_id WHERE {AWAITS_CARRIER} GROUP BY 1
    """
)
CARRIERS = text(
    """
    SELECT carrier, max(rate) AS rate, min(allowed) AS allowed, sum("window") AS "window",
           sum(unreadable) AS unreadable, sum(unknown_answers) AS unknown_answers
      FROM carrier_report WHERE reported_at > clock_timestamp() - interval '5 seconds' GROUP BY carrier ORDER BY carrier
    """
)
CARRIER_STATES = text(
    """
    SELECT carrier, state, count(*) AS workers FROM carrier_report
     WHERE reported_at > clock_timestamp() - interval '5 seconds' GROUP BY 1, 2
    """
)
STATES_OF_CARRIER = ("ready", "paused", "down", "open", "probing")
OF_CARRIERS = {
    "rate": ("bulksms_carrier_rate", "Configured segments per second of all workers together; 0 is unlimited."),
    "allowed": ("bulksms_carrier_allowed_rate", "Segments per second currently allowed, after throttling."),
    "window": ("bulksms_carrier_window", "Messages that may be unanswered at a time, of all workers together."),
    "unreadable": ("bulksms_carrier_unreadable", "Receipts and other PDUs from the carrier that could not be read."),
    "unknown_answers": ("bulksms_carrier_unknown_answers", "Responses from the carrier that match no request."),
}
ONE_VALUE = {
    "bulksms_sends_held": (
        "Sends that wait for an operator.",
        "SELECT count(*) FROM send WHERE completed_at IS NULL AND state = 'held'",
    ),
    "bulksms_messages_resent": (
        "Submits repeated because an earlier one had no response.",
        "SELECT coalesce(sum(resent), 0) FROM send WHERE resent > 0",
    ),
    "bulksms_accounts_frozen": (
        "Accounts frozen because their balance does not match their ledger.",
        "SELECT count(*) FROM account WHERE state = 'frozen'",
    ),
    "bulksms_jobs_set_aside": (
        "Imports, expansions and other jobs that failed repeatedly and wait for an operator.",
        "SELECT count(*) FROM job_failure WHERE set_aside_at IS NOT NULL",
    ),
    "bulksms_receipts_unreadable": (
        "Receipts that could not be read, stored as received.",
        "SELECT count(*) FROM unreadable_receipt",
    ),
    "bulksms_receipts_unmatched": ("Receipts that match no message.", "SELECT count(*) FROM receipt"),
    "bulksms_workers": (
        "Running worker processes.",
        "SELECT count(*) FROM lease WHERE name LIKE 'worker:%' AND held_until > clock_timestamp()",
    ),
    "bulksms_webhook_processes": (
        "Running processes that post events to webhooks.",
        "SELECT count(*) FROM lease WHERE name LIKE 'webhooks:%' AND held_until > clock_timestamp()",
    ),
    "bulksms_webhooks_failing": (
        "Active webhooks whose deliveries are failing.",
        "SELECT count(*) FROM webhook WHERE state = 'active' AND failing_since IS NOT NULL",
    ),
    "bulksms_deliveries_pending": (
        "Webhook deliveries that failed and will be retried.",
        "SELECT count(*) FROM delivery WHERE state = 'pending'",
    ),
    "bulksms_webhooks_disabled": (
        "Webhooks that are disabled because their deliveries failed for too long, or by their owner.",
        "SELECT count(*) FROM webhook WHERE state <> 'active'",
    ),
    "bulksms_credits_available": (
        "Credits that accounts can spend.",
        "SELECT coalesce(sum(available), 0) FROM account WHERE sandbox_of IS NULL",
    ),
    "bulksms_credits_reserved": (
        "Credits that are reserved for messages without a result.",
        "SELECT coalesce(sum(reserved), 0) FROM account WHERE sandbox_of IS NULL",
    ),
    "bulksms_imports_open": (
        "Imports of contacts that are not completed.",
        "SELECT count(*) FROM contact_import WHERE state IN ('receiving', 'queued', 'running')",
    ),
    "bulksms_guard_held": (
        "Whether sending is stopped because the database has lost commits.",
        "SELECT count(*) FROM installation WHERE held_since IS NOT NULL",
    ),
}


class InstallationCollector(Collector):
    """Collects the gauges from the database at each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every gauge."""
        with reading(self._engine) as connection:
            families = [*_doubts(connection), *_queue(connection), *_carriers(connection)]
            values = {name: connection.execute(text(sql)).scalar_one() for name, (_, sql) in ONE_VALUE.items()}
        yield from families
        for name, value in values.items():
            yield GaugeMetricFamily(name, ONE_VALUE[name][0], value=float(value))


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
