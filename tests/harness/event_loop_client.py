"""A test client whose requests go through the API's ASGI application on an event loop, as in production."""

import asyncio
import threading
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from flask import Flask
from werkzeug.exceptions import ClientDisconnected
from werkzeug.test import Client, TestResponse
from werkzeug.wsgi import get_input_stream

from api.handlers import direct_endpoint
from api.server.application import Application, Owners

SECONDS = 60.0
"""For one request."""
PART = 64 * 1024
"""Bytes of a body that come at a time."""


@cache
def event_loop() -> asyncio.AbstractEventLoop:
    """One for all clients of a test process, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event loop", daemon=True).start()
    return loop


class NoResponse(Exception):
    """The server found that the client had disconnected."""


class EventLoopClient(Client):
    """Werkzeug's test client. A send to one phone is handled on the event loop, everything else in threads."""

    def __init__(self, flask: Flask) -> None:
        self.flask = flask
        services = flask.extensions["bulksms"]
        owners = Owners(services)
        direct = direct_endpoint("POST", "/sms/send", services)
        self._application = Application(flask.wsgi_app, direct, owners, services.settings.database_pool)
        super().__init__(self._call, TestResponse)

    def _call(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """WSGI, as the client above calls it."""
        answered = asyncio.run_coroutine_threadsafe(self._respond(environ), event_loop())
        status, encoded, body = answered.result(SECONDS)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in encoded]
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]

    async def _respond(self, environ: dict[str, Any]) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        body, more, sent = get_input_stream(environ), True, list[dict[str, Any]]()

        async def receive() -> dict[str, Any]:
            nonlocal more
            if not more:
                await asyncio.sleep(SECONDS)
                return {"type": "http.disconnect"}
            try:
                data = body.read(PART)
            except ClientDisconnected:  # the body is shorter than announced
                return {"type": "http.disconnect"}
            more = bool(data)
            return {"type": "http.request", "body": data, "more_body": more}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self._application(scope_of(environ), receive, send)
        if not sent:
            raise NoResponse
        return sent[0]["status"], list(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])


def scope_of(environ: dict[str, Any]) -> dict[str, Any]:
    """The ASGI scope of a WSGI environment."""
    path = environ["PATH_INFO"].encode("latin-1")
    headers = [
        (name.removeprefix("HTTP_").replace("_", "-").lower().encode(), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_") or (name in ("CONTENT_TYPE", "CONTENT_LENGTH") and value)
    ]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": "http",
        "path": path.decode("utf-8", "replace"),
        "raw_path": quote(path).encode(),
        "query_string": environ["QUERY_STRING"].encode("latin-1"),
        "headers": headers,
        "client": (environ.get("REMOTE_ADDR") or "127.0.0.1", 4711),
        "server": (environ["SERVER_NAME"], int(environ["SERVER_PORT"])),
    }
