"""One JSON line for each request that failed or is sampled. A thread writes them: the event loop must not block."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, MutableMapping
from typing import Any

from api.http.request import SUMMARY, Headers, Summary
from shared.observability.logs import fields
from shared.periodic import repeat

log = logging.getLogger("api.requests")

FIRST_ERROR, FIRST_SERVER_ERROR = 400, 500
FLUSH_SECONDS = 0.2
MAX_WAITING, MAX_CLIENT_ERRORS = 2_000, 100
"""Lines that wait for the next flush, and those of them with a 4xx. Beyond that, requests are only counted: a line
takes 40 us of the processor, which an attacker must not turn against others."""
MAX_PATH = 200
"""Characters of a path that leads to no endpoint."""
MAX_SEGMENT, MAX_DIGITS = 32, 5
"""Characters and digits of one segment of such a path. Longer ones are hidden: they may be phones or secrets."""


class RequestLog:
    """Keeps what is known of ended requests until its thread logs it."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, float, dict[str, Any]]] = deque()
        """The status, the time of the end and the members of each line."""
        self._client_errors = self._dropped = 0
        """Since the last flush."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Write what waits every FLUSH_SECONDS, in a thread."""
        self._thread = repeat(self.flush, FLUSH_SECONDS, "request-log", self._stop)

    def stop(self) -> None:
        """Write what waits, and end the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def add(
        self, scope: MutableMapping[str, Any], status: int, headers: Headers, seconds: float, body_bytes: int
    ) -> None:
        """Add a request that has ended: the status and headers of its response, the seconds from the request's last
        byte to the end, and the bytes of the response's body. Does not block."""
        summary: Summary | None = scope.get(SUMMARY)
        if status < FIRST_ERROR and not (summary is not None and summary.is_sampled):
            return
        ended = {"status": status, "ms": round(1000 * seconds, 1), "bytes": body_bytes}
        self.keep(status, lambda: _members(scope, summary, headers) | ended)

    def keep(self, status: int, members: Callable[[], dict[str, Any]]) -> None:
        """Keep a line, unless too many wait. Does not block. `status` is that of HTTP."""
        is_client_error = FIRST_ERROR <= status < FIRST_SERVER_ERROR
        if len(self._waiting) >= MAX_WAITING or (is_client_error and self._client_errors >= MAX_CLIENT_ERRORS):
            self._dropped += 1
            return
        self._client_errors += is_client_error
        self._waiting.append((status, time.time(), members()))

    def flush(self) -> None:
        """Write what waits."""
        self._client_errors = 0
        for _ in range(len(self._waiting)):
            status, ended_at, members = self._waiting.popleft()
            level = logging.ERROR if status >= FIRST_SERVER_ERROR else logging.INFO
            if log.isEnabledFor(level):
                record = {"name": log.name, "levelno": level, "levelname": logging.getLevelName(level)}
                log.handle(
                    logging.makeLogRecord({**record, "msg": "request", "created": ended_at, **fields(**members)})
                )
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            log.warning("%d requests were not logged: too many failed at the same time", dropped)


def _members(scope: MutableMapping[str, Any], summary: Summary | None, headers: Headers) -> dict[str, Any]:
    path = f"{scope['method']} {'/'.join(map(_harmless, scope['path'][:MAX_PATH].split('/')))}"
    if summary is None:  # refused before it reached the API
        given = next((value.decode("latin-1") for name, value in headers if name == b"x-request-id"), None)
        return {"request_id": given, "path": path}
    return {
        "request_id": summary.request_id,
        "account": summary.account_id,
        "key": summary.key_id,
        "route": summary.route or None,
        "path": None if summary.route else path,
        "send_id": summary.send_id,
        "code": summary.code,
    }


def _harmless(segment: str) -> str:
    return "…" if len(segment) > MAX_SEGMENT or sum(map(str.isdigit, segment)) > MAX_DIGITS else segment
