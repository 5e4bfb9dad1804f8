"""The console's process before a crowd of strangers."""

import contextlib
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from console.app import create_app
from console.before_sign_in import MOST_CALLS_OF_ADDRESS
from console.current import SESSION_TOKEN
from console.fair_share import MOST_OF_SESSION
from console.settings import Settings
from tests.harness.house import wait_until

KEY = "a-secret-key-of-the-consoles-tests"
MANY = 1200
STRANGERS = 40
PIPELINED = 150
TIMES = 40
FILE = "/static/vendor/chart.umd.min.js"
REQUEST = "GET {} HTTP/1.1\r\nHost: console\r\nConnection: close\r\n\r\n"


class Running:
    """A console whose API takes connections and never answers."""

    def __init__(self, process: Command, port: int) -> None:
        self.process = process
        self.port = port

    def connect(self, request: str = "") -> socket.socket:
        """A connection, with a request of it sent."""
        made = socket.create_connection((LOOPBACK, self.port), timeout=10)
        made.sendall(request.encode())
        return made

    def status(self, path: str) -> str:
        """The first line of an answer."""
        with self.connect(REQUEST.format(path)) as connection:
            return first_line(connection)


def first_line(connection: socket.socket) -> str:
    return connection.recv(200).decode().partition("\r\n")[0]


def answered(connections: list[socket.socket]) -> list[socket.socket]:
    return select.select(connections, [], [], 0)[0]


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Running]:
    with socket.create_server((LOOPBACK, 0), backlog=200) as silent:
        port = free_port()
        env = services.environment({"CONSOLE_SECRET_KEY": KEY, "PYTHONPATH": str(Path.cwd())})
        process = services.console(port, silent.getsockname()[1], env, tmp_path, Path.cwd())
        with process:
            process.launch()
            process.wait_ready(60)
            yield Running(process, port)


def test_it_holds_more_idle_connections_than_select_can(console: Running) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(MANY):
            idle.enter_context(console.connect())
        assert console.status("/healthz") == "HTTP/1.1 200 OK"
    assert console.process.exit_code() is None


def test_strangers_cannot_hold_up_the_pages_of_others(console: Running) -> None:
    """The API keeps two calls of one address waiting; the others are refused at once, and threads are left."""
    with contextlib.ExitStack() as strangers:
        waiting = [strangers.enter_context(console.connect(REQUEST.format("/invitations/x"))) for _ in range(STRANGERS)]
        assert console.status("/healthz") == "HTTP/1.1 200 OK"
        assert console.status("/sign-in") == "HTTP/1.1 200 OK"
        wait_until(lambda: len(answered(waiting)) >= STRANGERS - MOST_CALLS_OF_ADDRESS, 10, "the refusals")
        refused = answered(waiting)
        assert {first_line(each) for each in refused} == {"HTTP/1.1 429 TOO MANY REQUESTS"}
        assert len(refused) == STRANGERS - MOST_CALLS_OF_ADDRESS


def test_who_reads_nothing_holds_no_thread(console: Running) -> None:
    """Each asks for 30 MB of files at once: a thread that waited until they are read would wait for ever."""
    request = f"GET {FILE} HTTP/1.1\r\n\r\n" * PIPELINED
    with contextlib.ExitStack() as readers:
        waiting = [readers.enter_context(console.connect(request)) for _ in range(STRANGERS)]
        wait_until(lambda: len(answered(waiting)) == STRANGERS, 30, "the first of each")
        for _ in range(TIMES):
            assert console.status("/healthz") == "HTTP/1.1 200 OK"
            time.sleep(0.1)


def test_a_session_cannot_hold_up_the_pages_of_others(console: Running) -> None:
    """The API answers nothing, and a session has as many pages waiting for it as its share."""
    cookie = f"Cookie: {session_cookie('smsp_a-session')}\r\n"
    request = REQUEST.format("/accounts/1/live/").replace("\r\n\r\n", f"\r\n{cookie}\r\n")
    with contextlib.ExitStack() as pages:
        waiting = [pages.enter_context(console.connect(request)) for _ in range(STRANGERS)]
        wait_until(lambda: len(answered(waiting)) >= STRANGERS - MOST_OF_SESSION, 10, "the refusals")
        refused = answered(waiting)
        assert {first_line(each) for each in refused} == {"HTTP/1.1 429 TOO MANY REQUESTS"}
        assert len(refused) == STRANGERS - MOST_OF_SESSION
        assert console.status("/sign-in") == "HTTP/1.1 200 OK"


def session_cookie(token: str) -> str:
    """The cookie of a browser with this session token."""
    app = create_app(Settings(secret_key=KEY))
    client = app.test_client()
    with client.session_transaction() as session:
        session[SESSION_TOKEN] = token
    cookie = client.get_cookie(app.config["SESSION_COOKIE_NAME"])
    assert cookie is not None
    return f"{cookie.key}={cookie.value}"
