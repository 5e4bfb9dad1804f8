"""When a client leaves while its request waits for Postgres, what was begun is completed."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from api.server import responses
from api.server.application import Application, Owners
from tests.harness.house import wait_until
from tests.harness.served import served
from tests.harness.service import PREFIX, Service

WAIT = "SELECT pg_advisory_xact_lock(0, 4711)"
HOLD, LET_GO = text("SELECT pg_advisory_lock(0, 4711)"), text("SELECT pg_advisory_unlock(0, 4711)")
WAITING = text(
    """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND query = :wait
    """
)
SECONDS = 50
"""For what should come at once. Less than statements may take."""
SENDS = text("SELECT count(*) FROM send WHERE account_id = :account")


class Server:
    """The API on a port of its own. An account has one thread."""

    def __init__(self, service: Service) -> None:
        self.service = service
        app: Any = service.flask
        self._application = Application(app.wsgi_app, None, Owners(app.extensions["bulksms"]), threads=2)
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        assert self._started.wait(60)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with served(self._application) as self._port:
            self._started.set()
            await self._stop.wait()

    def stop(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def request(self, method: str, path: str, accept: str = "application/json", **fields: Any) -> socket.socket:
        """A connection on which this was requested."""
        body = json.dumps(fields).encode() if fields else b""
        head = (
            f"{method} {PREFIX}{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {self.service.token}\r\n"
            f"Accept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=60)
        connection.sendall(head.encode() + body)
        return connection


@pytest.fixture(name="server")
def _server(service: Service) -> Iterator[Server]:
    made = Server(service)
    yield made
    made.stop()


@pytest.fixture(name="slow")
def _slow(service: Service) -> Iterator[Callable[[str, str], None]]:
    """Lets Postgres execute a statement once, before the next one that has this in it."""
    armed: list[tuple[str, str]] = []

    def before(_: Any, cursor: Any, statement: str, *__: Any) -> None:
        if armed and armed[0][0] in statement:
            cursor.execute(armed.pop()[1])

    event.listen(service.api_engine, "before_cursor_execute", before)
    yield lambda fragment, statement: armed.append((fragment, statement))
    event.remove(service.api_engine, "before_cursor_execute", before)


def waiting(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(WAITING, {"wait": WAIT}).scalar_one())


def test_a_request_that_writes_is_finished(
    server: Server, slow: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    service = server.service
    group = service.new_group(["254711000001"])
    has_left, until_gone = threading.Event(), responses._until_gone

    async def note(receive: Any) -> None:
        await until_gone(receive)
        has_left.set()

    monkeypatch.setattr(responses, "_until_gone", note)
    slow("FROM contact c", WAIT)
    fields = {"sender_id": "ACME", "group_id": group, "message": "Hi {{name|you}}"}
    with service.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as holding:
        holding.execute(HOLD)
        with server.request("POST", "/sms/send-group", **fields):
            wait_until(lambda: waiting(service.engine) == 1, SECONDS, "the statement")
        assert has_left.wait(SECONDS)
        assert waiting(service.engine) == 1
        holding.execute(LET_GO)

    def accepted() -> bool:
        return bool(service.scalar(SENDS, account=service.account_id) == 1)

    wait_until(accepted, SECONDS, "the send")
