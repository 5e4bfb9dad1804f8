"""The console's process before a crowd of strangers."""

import contextlib
import select
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from console.load.body_limits import FILE_BYTES
from console.load.fair_share import MOST_OF_ADDRESS
from tests.harness.house import wait_until
from tests.harness.servers import START_SECONDS

pytestmark = pytest.mark.slow
PROGRAM = """
from console.session import current
current.SIGN_IN_TIMEOUT = 600.0
from console.__main__ import main
main()
"""
"""A console that waits ten minutes for its API: long enough even if the machine stands still."""
KEY = "a-secret-key-of-the-consoles-tests"
MANY = 1200
STRANGERS = 40
PIPELINED = 150
TIMES = 40
FILE = "/static/vendor/chart.umd.min.js"
REQUEST = "GET {} HTTP/1.1\r\nHost: console\r\nConnection: close\r\n\r\n"
ELSEWHERE = REQUEST.replace("\r\n\r\n", "\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")


class Running:
    """A console before an API of the tests."""

    def __init__(self, process: Command, port: int) -> None:
        self.process = process
        self.port = port

    def connect(self, request: str = "") -> socket.socket:
        """A connection, with a request of it sent."""
        made = socket.create_connection((LOOPBACK, self.port), timeout=60)
        made.sendall(request.encode())
        return made

    def status(self, path: str) -> str:
        """The first line of a response."""
        with self.connect(REQUEST.format(path)) as connection:
            return first_line(connection)


def first_line(connection: socket.socket) -> str:
    return connection.recv(200).decode().partition("\r\n")[0]


def answered(connections: list[socket.socket]) -> list[socket.socket]:
    return select.select(connections, [], [], 0)[0]


@contextlib.contextmanager
def running(tmp_path: Path, api_port: int) -> Iterator[Running]:
    port = free_port()
    env = services.environment({"CONSOLE_SECRET_KEY": KEY, "CONSOLE_PROXIES": "1", "PYTHONPATH": str(Path.cwd())})
    process = services.console(port, api_port, env, tmp_path, Path.cwd())
    process.command = [sys.executable, "-c", PROGRAM, "--port", str(port)]
    with process:
        process.launch()
        process.wait_ready(START_SECONDS)
        yield Running(process, port)


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Running]:
    """A console whose API takes connections and never answers."""
    with socket.create_server((LOOPBACK, 0), backlog=200) as silent, running(tmp_path, silent.getsockname()[1]) as made:
        yield made


def test_it_holds_more_idle_connections_than_select_can(console: Running) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(MANY):
            idle.enter_context(console.connect())
        assert console.status("/healthz") == "HTTP/1.1 200 OK"
    assert console.process.exit_code() is None


def test_a_body_larger_than_any_form_is_refused_before_it_is_received(console: Running) -> None:
    head = f"POST /sign-in HTTP/1.1\r\nHost: console\r\nContent-Length: {FILE_BYTES + 1}\r\n\r\n"
    with console.connect(head) as connection:
        assert first_line(connection) == "HTTP/1.1 413 Request Entity Too Large"


def test_strangers_cannot_hold_up_the_pages_of_others(console: Running) -> None:
    """The API keeps a few calls of one address waiting; the others are refused at once, and threads are left."""
    with contextlib.ExitStack() as strangers:
        waiting = [strangers.enter_context(console.connect(REQUEST.format("/invitations/x"))) for _ in range(STRANGERS)]
        assert console.status("/healthz") == "HTTP/1.1 200 OK"
        with console.connect(ELSEWHERE.format("/sign-in")) as other:
            assert first_line(other) == "HTTP/1.1 200 OK"
        wait_until(lambda: len(answered(waiting)) >= STRANGERS - MOST_OF_ADDRESS, 60, "the refusals")
        refused = answered(waiting)
        assert {first_line(each) for each in refused} == {"HTTP/1.1 429 TOO MANY REQUESTS"}
        assert len(refused) == STRANGERS - MOST_OF_ADDRESS


def test_a_client_that_reads_nothing_holds_no_thread(console: Running) -> None:
    """Each asks for 30 MB of files at once: a thread that waited until they are read would wait for ever."""
    request = f"GET {FILE} HTTP/1.1\r\n\r\n" * PIPELINED
    with contextlib.ExitStack() as readers:
        waiting = [readers.enter_context(console.connect(request)) for _ in range(STRANGERS)]
        wait_until(lambda: len(answered(waiting)) == STRANGERS, 60, "the first of each")
        for _ in range(TIMES):
            assert console.status("/healthz") == "HTTP/1.1 200 OK"
            time.sleep(0.1)
