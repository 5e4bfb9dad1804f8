"""`GET /metrics`: operator metrics in the Prometheus text format, read from the database at each scrape.

Not public: it requires `Authorization: Bearer METRICS_TOKEN`, and responds 404 if that setting is missing.
"""

import hmac
from collections.abc import Iterator

from flask import Flask, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy import Engine, text

from api.http.request import current_request
from api.problems import Problem
from api.services import Services
from shared.db.connection import reading
from shared.lifecycle import BatchState
from shared.sends.sendable import AWAITED_SINCE, AWAITS_CARRIER

OPEN_STATES = (BatchState.WAITING, BatchState.QUEUED, BatchState.SENDING, BatchState.PAUSED, BatchState.HELD)

DOUBTS = text(
    """
    SELECT carrier, count(*) AS messages, extract(epoch FROM clock_timestamp() - min(submitted_at)) AS oldest
      FROM doubt GROUP BY carrier ORDER BY carrier
    """
)
BATCHES = text(
    """
    SELECT state, count(*) AS batches, extract(epoch FROM clock_timestamp() - min(due_at)) AS oldest
      FROM batch WHERE state = ANY(CAST(:states AS batch_state[])) GROUP BY state
    """
)
AWAITING = text(
    f"""
    SELECT split_part(b.carrier, '/', 1) AS carrier, count(*) AS batches,
           extract(epoch FROM clock_timestamp() - min({AWAITED_SINCE})) AS oldest
      FROM batch b JOIN send s ON s.id = b.send_id WHERE {AWAITS_CARRIER} GROUP BY 1 ORDER BY 1
    """
)
CARRIERS = text(
    """
    SELECT carrier, bool_or(state = 'ready')::int AS ready, max(rate) AS rate, min(allowed) AS allowed,
           sum(submitted) AS submitted, sum(throttled) AS throttled, sum(failed) AS failed,
           sum(unreadable) AS unreadable, sum(unknown_answers) AS unknown_answers
      FROM carrier_report WHERE reported_at > clock_timestamp() - interval '5 seconds' GROUP BY carrier ORDER BY carrier
    """
)
OF_CARRIERS = {
    "ready": ("bulksms_carrier_ready", "Whether a worker can submit messages to the carrier now."),
    "rate": ("bulksms_carrier_rate", "Configured segments per second of all workers together; 0 is unlimited."),
    "allowed": ("bulksms_carrier_allowed_rate", "Segments per second currently allowed, after throttling."),
    "submitted": ("bulksms_carrier_submitted", "Messages submitted since the running workers were started."),
    "throttled": ("bulksms_carrier_throttled", "Submitted messages that the carrier throttled."),
    "failed": ("bulksms_carrier_failed", "Submitted messages that the carrier failed to accept."),
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
}


class DatabaseCollector(Collector):
    """Collects the gauges from the database at each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every gauge."""
        description = "Messages submitted without a response from the carrier."
        in_doubt = GaugeMetricFamily("bulksms_messages_in_doubt", description, labels=["carrier"])
        description = "Age of the oldest message in doubt."
        oldest_doubt = GaugeMetricFamily("bulksms_oldest_doubt_seconds", description, labels=["carrier"])
        batches = GaugeMetricFamily("bulksms_batches", "Unfinished batches.", labels=["state"])
        oldest_queued = GaugeMetricFamily("bulksms_oldest_queued_seconds", "How long the next batch has been due.")
        description = "Batches waiting because all their carriers are unavailable, by one of those carriers."
        awaiting_carrier = GaugeMetricFamily("bulksms_batches_awaiting_carrier", description, labels=["carrier"])
        with reading(self._engine) as connection:
            for row in connection.execute(DOUBTS):
                in_doubt.add_metric([row.carrier], row.messages)
                oldest_doubt.add_metric([row.carrier], float(row.oldest))
            by_state = {row.state: row for row in connection.execute(BATCHES, {"states": [*OPEN_STATES]})}
            awaiting = connection.execute(AWAITING).all()
            reports = connection.execute(CARRIERS).all()
            values = {name: connection.execute(text(sql)).scalar_one() for name, (_, sql) in ONE_VALUE.items()}
        for state in OPEN_STATES:
            batches.add_metric([state], by_state[state].batches if state in by_state else 0)
        queued = by_state.get(BatchState.QUEUED)
        ages = [float(row.oldest) for row in (*awaiting, *((queued,) if queued else ()))]
        oldest_queued.add_metric([], max(0.0, *ages) if ages else 0.0)
        for row in awaiting:
            awaiting_carrier.add_metric([row.carrier], row.batches)
        yield from (in_doubt, oldest_doubt, batches, oldest_queued, awaiting_carrier)
        for column, (name, description) in OF_CARRIERS.items():
            gauge = GaugeMetricFamily(name, description, labels=["carrier"])
            for row in reports:
                gauge.add_metric([row.carrier], float(getattr(row, column)))
            yield gauge
        for name, value in values.items():
            yield GaugeMetricFamily(name, ONE_VALUE[name][0], value=float(value))


def add_metrics(app: Flask, work: Services) -> None:
    """Add /metrics to the application."""
    registry = CollectorRegistry()
    registry.register(DatabaseCollector(work.engine))
    expected = f"Bearer {work.settings.metrics_token}".encode()

    @app.get("/metrics")
    def metrics() -> Response:
        """The gauges."""
        given = current_request().http.headers.get("Authorization", "").encode()
        if not work.settings.metrics_token or not hmac.compare_digest(given, expected):
            raise Problem("not_found", "There is nothing at this path.")
        return Response(generate_latest(registry), 200, [("Content-Type", CONTENT_TYPE_LATEST)])
