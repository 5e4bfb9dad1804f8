"""One server process: serves an ASGI application on a socket until it is told to stop, and counts its responses."""

import asyncio
import signal
from collections.abc import Callable, MutableMapping
from functools import cache
from socket import socket
from typing import Any

import uvloop
from prometheus_client import Counter, Histogram

from api.http.request import SUMMARY
from api.server.application import Application
from api.server.connections import Connections, ServerState
from api.server.memory import map_large_buffers
from api.server.protocol import HttpConnection
from api.server.request_log import RequestLog
from shared.observability.metrics import HTTP_REQUEST_SECONDS, HTTP_REQUESTS
from shared.observability.traces import stop_traces
from shared.priority import switch_threads_often

BACKLOG = 2048
END_SECONDS = 20.0
"""How long open requests may take after the server is told to stop."""


def run(load: Callable[[], Any], listening: socket) -> None:
    """Serve the ASGI application that `load` returns, until SIGTERM or SIGINT."""
    switch_threads_often()  # the event loop waits after each system call, once for every busy thread
    map_large_buffers()
    application = load()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(application, listening))
    stop_traces()


async def serve(application: Any, listening: socket) -> None:
    """Serve an ASGI application. A second SIGINT ends it without waiting for open requests."""
    loop = asyncio.get_running_loop()
    stop, stop_now = asyncio.Event(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, lambda: (stop_now if stop.is_set() else stop).set())
    host, port = listening.getsockname()[:2]
    request_log = RequestLog()
    if isinstance(application, Application):
        request_log.start()
        limits, refusals = application.connections, application.refusals
        state = ServerState(application, limits, refusals, (host, port), count_response, request_log.add)
    else:
        state = ServerState(application, Connections(), address=(host, port))
    server = await loop.create_server(lambda: HttpConnection(state), sock=listening, backlog=BACKLOG)
    await stop.wait()
    server.close()
    for connection in list(state.connections):
        connection.shut_down()
    ends = loop.time() + END_SECONDS
    while (state.connections or state.tasks) and loop.time() < ends and not stop_now.is_set():
        await asyncio.sleep(0.05)
    for connection in list(state.connections):
        connection.transport.abort()
    for task in list(state.tasks):
        task.cancel()
    await asyncio.gather(*state.tasks, return_exceptions=True)
    request_log.stop()


def count_response(scope: MutableMapping[str, Any], status: int, seconds: float) -> None:
    """Count a response for `GET /metrics`. The scope has the request's Summary, if it reached the API."""
    summary = scope.get(SUMMARY)
    requests, duration = _metrics_of(summary.route if summary is not None else "", status)
    requests.inc()
    duration.observe(seconds)


@cache
def _metrics_of(endpoint: str, status: int) -> tuple[Counter, Histogram]:
    return HTTP_REQUESTS.labels(endpoint, str(status)), HTTP_REQUEST_SECONDS.labels(endpoint)
