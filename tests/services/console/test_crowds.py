"""The console's process before a crowd of strangers."""

import contextlib
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from console.before_sign_in import MOST_CALLS_OF_ADDRESS
from tests.harness.house import wait_until

KEY = "a-secret-key-of-the-consoles-tests"
MANY = 1200
STRANGERS = 40
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


def test_a_body_larger_than_any_form_is_refused_before_it_is_received(console: Running) -> None:
    head = f"POST /sign-in HTTP/1.1\r\nHost: console\r\nContent-Length: {32 * 1024 * 1024}\r\n\r\n"
    with console.connect(head) as connection:
        assert first_line(connection) == "HTTP/1.1 413 Request Entity Too Large"


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
