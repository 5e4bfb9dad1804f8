"""`GET /metrics`: what the processes of this host have counted, and the state of the installation.

Not public: it requires `Authorization: Bearer METRICS_TOKEN`, and responds 404 if that setting is missing.
"""

from flask import Flask, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from api.http.request import current_request
from api.metrics.installation import InstallationCollector
from api.problems import Problem
from shared.observability.metrics import registry_of_host
from shared.observability.metrics_server import is_authorized


def add_metrics(app: Flask) -> None:
    """Add /metrics to the application."""
    host = registry_of_host()

    @app.get("/metrics")
    def metrics() -> Response:
        """All metrics."""
        request = current_request()
        services = request.services
        if not is_authorized(request.http.headers.get("Authorization", ""), services.settings.metrics_token):
            raise Problem("not_found", "There is nothing at this path.")
        body = generate_latest(host) + generate_latest(InstallationCollector(services.engine, services.replica))
        return Response(body, 200, [("Content-Type", CONTENT_TYPE_LATEST)])
