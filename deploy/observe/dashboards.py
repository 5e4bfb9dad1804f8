"""Generates the Grafana dashboards: `python deploy/observe/dashboards.py`. Edit this file, not the JSON.

A test checks that the files are up to date and that every query names metrics and labels that exist.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH, HEIGHT, COLUMNS = 8, 8, 3


@dataclass(frozen=True)
class Panel:
    """A panel with its queries, by legend."""

    title: str
    queries: dict[str, str]
    unit: str = "short"
    kind: str = "timeseries"
    description: str = ""


def percentile(share: float, metric: str, by: str = "", where: str = "") -> str:
    """A query for a percentile of a histogram."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket{where}[$__rate_interval])))"


def rate(metric: str, by: str, where: str = "") -> str:
    """A query for a counter's rate."""
    return f"sum by ({by}) (rate({metric}{where}[$__rate_interval]))"


SEND = '{endpoint=~"POST /api/v1/sms/send.*"}'

SINGLE = '{endpoint="POST /api/v1/sms/send"}'

OPERATORS = [
    Panel("Accepted messages", {"{{category}}": rate("bulksms_accepted_messages_total", "category")}, "mps"),
    Panel("Accepted by country", {"{{country}}": rate("bulksms_accepted_messages_total", "country")}, "mps"),
    Panel("Messages by status", {"{{status}}": rate("bulksms_messages_total", "status")}, "mps"),
    Panel(
        "Until submit, 99th percentile",
        {"{{category}}": percentile(0.99, "bulksms_submit_delay_seconds", "category")},
        "s",
        description="From when a batch was due until its first messages were submitted.",
    ),
    Panel(
        "Waiting messages",
        {"{{state}} {{category}}": "sum by (state, category) (max without (instance) (bulksms_batch_messages))"},
    ),
    Panel("Longest wait", {"{{category}}": "max by (category) (bulksms_oldest_queued_seconds)"}, "s"),
    Panel(
        "Sends by HTTP status",
        {"{{status}}": rate("bulksms_http_requests_total", "status", SEND)},
        "reqps",
    ),
    Panel(
        "Single sends",
        {
            f"{share:.0%}": percentile(share, "bulksms_http_request_duration_seconds", "endpoint", SINGLE)
            for share in (0.5, 0.95, 0.99)
        },
        "s",
        description="From the request's last byte to the response's first: half, 95 % and 99 % are faster.",
    ),
    Panel("Requests by endpoint", {"{{endpoint}}": rate("bulksms_http_requests_total", "endpoint")}, "reqps"),
    Panel("Console by HTTP status", {"{{status}}": rate("bulksms_console_requests_total", "status")}, "reqps"),
    Panel(
        "Console, 99th percentile",
        {"": percentile(0.99, "bulksms_console_request_duration_seconds")},
        "s",
    ),
    Panel("Commits, 99th percentile", {"": percentile(0.99, "bulksms_commit_duration_seconds")}, "s"),
    Panel(
        "Sends per commit",
        {
            "": "sum(rate(bulksms_commit_sends_sum[$__rate_interval]))"
            " / sum(rate(bulksms_commit_sends_count[$__rate_interval]))"
        },
    ),
    Panel(
        "Credits",
        {"available": "max(bulksms_credits_available)", "reserved": "max(bulksms_credits_reserved)"},
    ),
    Panel(
        "SMPP submits by status",
        {"{{status}}": rate("bulksms_smpp_server_submit_duration_seconds_count", "status")},
        "reqps",
    ),
    Panel("SMPP deliveries", {"{{result}}": rate("bulksms_smpp_server_deliveries_total", "result")}, "mps"),
    Panel("Webhook posts", {"{{status}}": rate("bulksms_webhook_posts_total", "status")}, "reqps"),
    Panel("Imported rows", {"{{result}}": rate("bulksms_imported_rows_total", "result")}, "rowsps"),
    Panel(
        "Database connections",
        {"{{application}} {{state}}": "sum by (application, state) (bulksms_database_connections)"},
        description="Of all processes together.",
    ),
    Panel("Waits for a connection", {"": "sum(rate(bulksms_database_connection_waits_total[$__rate_interval]))"}),
    Panel(
        "Processes",
        {"workers": "max(bulksms_workers)", "webhooks": "max(bulksms_webhook_processes)"},
        kind="stat",
    ),
    Panel(
        "For an operator",
        {
            "held sends": "max(bulksms_sends_held)",
            "jobs set aside": "max(bulksms_jobs_set_aside)",
            "frozen accounts": "max(bulksms_accounts_frozen)",
            "guard": "max(bulksms_guard_held)",
        },
        kind="stat",
    ),
    Panel("Since the last audit", {"": "time() - max(bulksms_audit_completed_timestamp_seconds)"}, "s", "stat"),
]

CARRIERS = [
    Panel("Ready workers", {"{{carrier}}": 'max by (carrier) (bulksms_carrier_workers{state="ready"})'}, kind="stat"),
    Panel("Binds", {"{{carrier}} {{command}}": "sum by (carrier, command) (bulksms_smpp_binds)"}),
    Panel("Submitted segments", {"{{carrier}}": rate("bulksms_carrier_segments_total", "carrier")}, "mps"),
    Panel(
        "Allowed rate",
        {"{{carrier}}": "max by (carrier) (bulksms_carrier_allowed_rate)"},
        "mps",
        description="Segments per second; 0 is unlimited. Less than the configured rate after throttling.",
    ),
    Panel(
        "Responses", {"{{carrier}} {{response}}": rate("bulksms_carrier_responses_total", "carrier, response")}, "mps"
    ),
    Panel(
        "Responses, 99th percentile",
        {"{{carrier}}": percentile(0.99, "bulksms_carrier_response_duration_seconds", "carrier")},
        "s",
    ),
    Panel(
        "Until receipt, median",
        {"{{carrier}}": percentile(0.5, "bulksms_receipt_delay_seconds", "carrier")},
        "s",
    ),
    Panel(
        "Until receipt by category",
        {
            f"{{{{category}}}} {share:.0%}": percentile(share, "bulksms_receipt_delay_seconds", "category")
            for share in (0.5, 0.99)
        },
        "s",
    ),
    Panel(
        "Delivered share of receipts",
        {
            "{{carrier}}": rate("bulksms_messages_total", "carrier", '{status="delivered"}')
            + " / "
            + rate("bulksms_messages_total", "carrier", '{status=~"delivered|undelivered"}')
        },
        "percentunit",
    ),
    Panel(
        "Delivered by country",
        {"{{country}}": rate("bulksms_messages_total", "country", '{status="delivered"}')},
        "mps",
    ),
    Panel("In doubt", {"{{carrier}}": "max by (carrier) (bulksms_messages_in_doubt)"}),
    Panel("Oldest doubt", {"{{carrier}}": "max by (carrier) (bulksms_oldest_doubt_seconds)"}, "s"),
    Panel("Window", {"{{carrier}}": "max by (carrier) (bulksms_carrier_window)"}),
    Panel(
        "Unreadable receipts",
        {
            "{{carrier}}": "max by (carrier) (bulksms_carrier_unreadable)",
            "in the last hour": "max(bulksms_receipts_unreadable)",
        },
    ),
]


def dashboard(uid: str, title: str, panels: list[Panel]) -> dict[str, Any]:
    """A dashboard in Grafana's JSON model."""
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return {
        "uid": uid,
        "title": title,
        "tags": ["bulksms"],
        "schemaVersion": 39,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [source]},
        "panels": [_panel(number, panel) for number, panel in enumerate(panels)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }


DASHBOARDS = {
    "operators.json": dashboard("bulksms-operators", "Bulk SMS: operators", OPERATORS),
    "carriers.json": dashboard("bulksms-carriers", "Bulk SMS: carriers", CARRIERS),
}


def as_json(document: dict[str, Any]) -> str:
    """The file's text."""
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    for name, document in DASHBOARDS.items():
        (HERE / name).write_text(as_json(document))
