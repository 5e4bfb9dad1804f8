"""Requests as an ASGI server describes them, and the response to one that is handled on the event loop."""

import asyncio
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from api.handlers import DirectEndpoint
from api.http.wsgi import WholeResponse
from api.server.application import Application, Reply
from api.server.exchange import Observed

SEND = "/api/v1/sms/send"
SERVICES = SimpleNamespace(settings=SimpleNamespace(requests_per_second=100, request_log_sample_rate=0.0))
"""Those of an endpoint that needs none but for its headers."""


def scope(path: str = SEND, method: str = "POST", headers: Iterable[tuple[bytes, bytes]] = ()) -> dict[str, Any]:
    """A request."""
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("latin-1"),
        "query_string": b"a=b",
        "headers": list(headers),
        "client": ("192.0.2.1", 4711),
        "server": ("127.0.0.1", 8000),
    }


def on_loop(endpoint: Callable[[], Reply]) -> DirectEndpoint:
    """An endpoint that is handled on the event loop."""
    return DirectEndpoint(endpoint, SERVICES)


async def answered(
    application: Application | Observed, request: dict[str, Any], body: bytes = b""
) -> list[dict[str, Any]]:
    """What an application sends in answer to a request, whose client stays."""
    came = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not came:
            await asyncio.sleep(60)
        return came.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    await asyncio.wait_for(application(request, receive, send), 60)
    return sent


async def handled(
    application: Application | Observed, headers: Iterable[tuple[bytes, bytes]] = (), body: bytes = b""
) -> WholeResponse:
    """The response to a send that is handled on the running event loop."""
    length = (b"content-length", b"%d" % len(body))
    sent = await answered(application, scope(headers=[*headers, length]), body)
    return WholeResponse(sent[0]["status"], sent[0]["headers"], sent[1]["body"])
