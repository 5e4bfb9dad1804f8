"""The API's processes share a port: connections are divided among them, and a process that dies takes none with it."""

import http.client
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from api.listening import IS_DIVIDED, Listening, take
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from tests.services.house import wait_until

pytestmark = pytest.mark.skipif(not IS_DIVIDED, reason="only Linux divides connections")


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[tuple[Command, int]]:
    port = free_port()
    env = services.environment({"PYTHONPATH": str(Path.cwd())})
    with Command("api", command(port), env, tmp_path / "api.log", Path.cwd(), lambda: answers(port)) as made:
        made.launch()
        made.wait_ready(30)
        wait_until(lambda: len(processes(made)) == 2, 30, "both processes")
        yield made, port


def command(port: int) -> list[str]:
    return [sys.executable, "-m", "api.server", "bench.hello:served", "--port", str(port), "--processes", "2"]


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def processes(server: Command) -> list[psutil.Process]:
    """Those of the server that listen."""
    assert server.pid is not None
    return [each for each in psutil.Process(server.pid).children() if any(listens(each))]


def listens(process: psutil.Process) -> Iterator[bool]:
    return (connection.status == psutil.CONN_LISTEN for connection in process.net_connections("tcp"))


def sockets(port: int) -> int:
    """How many listen on it."""
    found = psutil.net_connections("tcp")
    return sum(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in found)


def copy_of(listening: Listening) -> Listening:
    """As another process gets it."""
    made = pickle.loads(pickle.dumps(listening))
    assert isinstance(made, Listening)
    return made


def accepted(listening: socket.socket, open_: ExitStack) -> int:
    listening.setblocking(False)
    count = 0
    while True:
        try:
            open_.enter_context(listening.accept()[0])
        except BlockingIOError:
            return count
        count += 1


def test_connections_are_divided() -> None:
    with take(LOOPBACK, free_port()) as reserved, copy_of(reserved) as first, copy_of(reserved) as second:
        first.listen(), second.listen()
        with ExitStack() as open_:
            for _ in range(64):
                open_.enter_context(socket.create_connection(reserved.getsockname(), 10))
            of_first, of_second = accepted(first, open_), accepted(second, open_)
    assert of_first + of_second == 64
    assert min(of_first, of_second) >= 10  # with fewer once in ten million runs


def test_a_port_that_somebody_has_is_not_shared() -> None:
    with take(LOOPBACK, free_port()) as reserved, copy_of(reserved) as ours:
        ours.listen()
        with pytest.raises(OSError, match="in use"):
            take(*reserved.getsockname())


def test_a_second_server_of_a_port_says_so_and_ends(server: tuple[Command, int]) -> None:
    _, port = server
    env = services.environment({"PYTHONPATH": str(Path.cwd())})
    second = subprocess.run(command(port), env=env, capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 1
    assert f"{LOOPBACK}:{port} cannot be listened on (Address already in use)" in second.stderr
    assert answers(port)


def test_what_comes_after_a_process_was_killed_is_answered(server: tuple[Command, int]) -> None:
    running, port = server
    assert running.pid is not None
    assert all(answers(port) for _ in range(20))
    killed = processes(running)[0]
    os.kill(running.pid, signal.SIGSTOP)  # who would start another one
    try:
        os.kill(killed.pid, signal.SIGKILL)
        wait_until(lambda: sockets(port) == 1, 30, "the end of its socket")
        assert all(answers(port) for _ in range(20))
    finally:
        os.kill(running.pid, signal.SIGCONT)
    wait_until(lambda: sockets(port) == 2, 30, "another one")
    assert all(answers(port) for _ in range(20))
