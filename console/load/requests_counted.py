"""Counts the console's requests for the API's `GET /metrics`, if both share a PROMETHEUS_MULTIPROC_DIR."""

import time

from flask import Flask, Response, g, request

from shared.observability.metrics import CONSOLE_REQUEST_SECONDS, CONSOLE_REQUESTS


def count_requests(app: Flask) -> None:
    """Count every response by its endpoint, never by the path as the client wrote it."""

    @app.before_request
    def begin() -> None:
        g.began_at = time.monotonic()

    @app.after_request
    def end(response: Response) -> Response:
        page = request.endpoint or ""
        CONSOLE_REQUESTS.labels(page, str(response.status_code)).inc()
        if "began_at" in g:
            CONSOLE_REQUEST_SECONDS.labels(page).observe(time.monotonic() - g.began_at)
        return response
