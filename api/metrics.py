"""`GET /metrics`: what an operator watches, in the text format of Prometheus, read from the database when asked.

Not public: it answers whoever sends `Authorization: Bearer METRICS_TOKEN`, and without that setting it is not there.
"""

import hmac
from collections.abc import Iterator

from flask import Flask, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy import Engine, text

from api.http.problems import Problem
from api.http.request import current_request
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
    "ready": ("bulksms_carrier_ready", "Whether a worker can give it messages now."),
    "rate": ("bulksms_carrier_rate", "Segments per second of all workers together; 0 is unlimited."),
    "allowed": ("bulksms_carrier_allowed_rate", "What is left of the rate after throttling."),
    "submitted": ("bulksms_carrier_submitted", "Messages, since the workers that are alive were started."),
    "throttled": ("bulksms_carrier_throttled", "Of these, those it was too busy for."),
    "failed": ("bulksms_carrier_failed", "Of these, those it could not take."),
    "unreadable": ("bulksms_carrier_unreadable", "Receipts and other PDUs of it that could not be read."),
    "unknown_answers": ("bulksms_carrier_unknown_answers", "Answers of it to nothing that was asked."),
}
ONE_VALUE = {
    "bulksms_sends_held": (
        "Sends that wait for an operator.",
        "SELECT count(*) FROM send WHERE completed_at IS NULL AND state = 'held'",
    ),
    "bulksms_messages_resent": (
        "Submits that were repeated because an earlier one had no answer.",
        "SELECT coalesce(sum(resent), 0) FROM send WHERE resent > 0",
    ),
    "bulksms_accounts_frozen": (
        "Accounts whose books did not add up.",
        "SELECT count(*) FROM account WHERE state = 'frozen'",
    ),
    "bulksms_jobs_set_aside": (
        "Imports, expansions and other jobs that failed again and again and wait for the operator.",
        "SELECT count(*) FROM job_failure WHERE set_aside_at IS NOT NULL",
    ),
    "bulksms_receipts_unreadable": (
        "Receipts that could not be read and are kept as they came.",
        "SELECT count(*) FROM unreadable_receipt",
    ),
    "bulksms_receipts_unmatched": ("Receipts that no message was found for.", "SELECT count(*) FROM receipt"),
    "bulksms_workers": (
        "Worker processes that are alive.",
        "SELECT count(*) FROM lease WHERE name LIKE 'worker:%' AND held_until > clock_timestamp()",
    ),
    "bulksms_webhook_processes": (
        "Processes that post events to webhooks and are alive.",
        "SELECT count(*) FROM lease WHERE name LIKE 'webhooks:%' AND held_until > clock_timestamp()",
    ),
    "bulksms_webhooks_failing": (
        "Webhooks of which no post succeeds.",
        "SELECT count(*) FROM webhook WHERE state = 'active' AND failing_since IS NOT NULL",
    ),
    "bulksms_deliveries_pending": (
        "Posts to webhooks that failed and are tried again.",
        "SELECT count(*) FROM delivery WHERE state = 'pending'",
    ),
}


class DatabaseCollector(Collector):
    """The gauges, asked for at each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every gauge, as of one moment."""
        doubts = GaugeMetricFamily("bulksms_messages_in_doubt", "Messages without an answer.", labels=["carrier"])
        doubted = GaugeMetricFamily("bulksms_oldest_doubt_seconds", "Age of the oldest of them.", labels=["carrier"])
        batches = GaugeMetricFamily("bulksms_batches", "Batches that are not done.", labels=["state"])
        due = GaugeMetricFamily("bulksms_oldest_queued_seconds", "How long the next batch has been due.")
        description = "Batches that wait because all their carriers are closed, by one of these."
        closed = GaugeMetricFamily("bulksms_batches_awaiting_carrier", description, labels=["carrier"])
        with reading(self._engine) as connection:
            for row in connection.execute(DOUBTS):
                doubts.add_metric([row.carrier], row.messages)
                doubted.add_metric([row.carrier], float(row.oldest))
            found = {row.state: row for row in connection.execute(BATCHES, {"states": [*OPEN_STATES]})}
            awaiting = connection.execute(AWAITING).all()
            reports = connection.execute(CARRIERS).all()
            values = {name: connection.execute(text(sql)).scalar_one() for name, (_, sql) in ONE_VALUE.items()}
        for state in OPEN_STATES:
            batches.add_metric([state], found[state].batches if state in found else 0)
        queued = found.get(BatchState.QUEUED)
        ages = [float(row.oldest) for row in (*awaiting, *((queued,) if queued else ()))]
        due.add_metric([], max(0.0, *ages) if ages else 0.0)
        for row in awaiting:
            closed.add_metric([row.carrier], row.batches)
        yield from (doubts, doubted, batches, due, closed)
        for column, (name, description) in OF_CARRIERS.items():
            gauge = GaugeMetricFamily(name, description, labels=["carrier"])
            for row in reports:
                gauge.add_metric([row.carrier], float(getattr(row, column)))
            yield gauge
        for name, value in values.items():
            yield GaugeMetricFamily(name, ONE_VALUE[name][0], value=float(value))


def add_metrics(app: Flask, work: Services) -> None:
    """Give the application its /metrics."""
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
