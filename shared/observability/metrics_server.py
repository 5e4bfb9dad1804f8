"""Serves `/metrics` of a host on METRICS_PORT, from one of its workers or webhook processes.

The first process that starts takes the port. The others try again, and one of them takes it when that process ends.
"""

import errno
import hmac
import logging
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

from shared.observability.metrics import registry_of_host
from shared.settings import Settings

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0

App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def is_authorized(given: str, token: str) -> bool:
    """Whether an Authorization header has the token."""
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def serve_metrics(settings: Settings) -> None:
    """Serve `/metrics` in a background thread until the process ends, if METRICS_PORT and METRICS_TOKEN are set."""
    if settings.metrics_port and not settings.metrics_token:
        log.info("no metrics are served on METRICS_PORT: METRICS_TOKEN is not set")
    elif settings.metrics_port:
        threading.Thread(target=_serve, args=(settings,), name="metrics", daemon=True).start()


def _serve(settings: Settings) -> None:
    address = (settings.metrics_host, settings.metrics_port)
    app = _with_token(make_wsgi_app(registry_of_host()), settings.metrics_token)
    while True:
        try:
            server = make_server(*address, app, server_class=_Server, handler_class=_Handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                log.error("metrics cannot be served on %s port %d: %s. Change METRICS_HOST.", *address, error.strerror)
                return
            threading.Event().wait(RETRY_SECONDS)
            continue
        log.info("metrics of this host are served on %s port %d", *address)
        server.serve_forever()


def _with_token(app: App, token: str) -> App:
    def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/metrics" or not is_authorized(environ.get("HTTP_AUTHORIZATION", ""), token):
            start_response("404 Not Found", [("Content-Type", "text/plain"), ("Content-Length", "0")])
            return []
        return app(environ, start_response)

    return respond


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = 10

    def log_message(self, *_: object) -> None:
        """Log nothing: a scrape every few seconds is no news."""
