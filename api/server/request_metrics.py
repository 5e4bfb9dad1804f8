"""Counts responses for `GET /metrics`."""

from collections.abc import MutableMapping
from functools import cache
from typing import Any

from prometheus_client import Counter, Histogram

from api.http.request import SUMMARY
from shared.metrics import HTTP_REQUEST_SECONDS, HTTP_REQUESTS


def count_response(scope: MutableMapping[str, Any], status: int, seconds: float) -> None:
    """Count a response. The scope has the request's Summary, if it reached the API."""
    summary = scope.get(SUMMARY)
    requests, duration = _metrics_of(summary.route if summary is not None else "", status)
    requests.inc()
    duration.observe(seconds)


@cache
def _metrics_of(endpoint: str, status: int) -> tuple[Counter, Histogram]:
    return HTTP_REQUESTS.labels(endpoint, str(status)), HTTP_REQUEST_SECONDS.labels(endpoint)
