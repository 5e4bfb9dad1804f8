"""The API's processes share a port: connections are divided among them, and without one of them the others answer."""

import os
import pickle
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import cast

import psutil
import pytest

from api.server.reuse_port import IS_DIVIDED, SharedPort
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port, is_free
from tests.harness.fetch import status_of
from tests.harness.house import wait_until
from tests.harness.servers import START_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_DIVIDED, reason="only Linux divides connections")]


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[tuple[Command, int]]:
    port = free_port()
    with server_of(port, tmp_path) as api:
        api.launch()
        api.wait_ready(START_SECONDS)
        wait_until(lambda: len(listeners(port)) == 2, 60, "both processes")
        yield api, port


def server_of(port: int, folder: Path) -> Command:
    """The API's server, with an application that needs nothing."""
    env, home = services.environment({"PYTHONPATH": str(Path.cwd())}), Path.cwd()
    api = services.api(port, env, folder, home)
    return Command("api", [*api.command, "bench.hello:served"], env, folder / "api.log", home, api._is_ready)


def answers(port: int) -> bool:
    """Whether a request is answered, however long that takes."""
    return status_of(port, "/readyz") == HTTPStatus.OK


def listeners(port: int) -> list[int]:
    """The processes that listen on it."""
    found = psutil.net_connections("tcp")
    return [each.pid for each in found if each.status == psutil.CONN_LISTEN and each.laddr.port == port]


def accepted(listening: socket.socket, open_: ExitStack) -> int:
    listening.setblocking(False)
    count = 0
    while True:
        try:
            open_.enter_context(listening.accept()[0])
        except BlockingIOError:
            return count
        count += 1


def own_socket(shared: SharedPort) -> socket.socket:
    """The socket of a process to which the port is passed."""
    return cast(socket.socket, pickle.loads(pickle.dumps(shared)))


@pytest.fixture(name="shared")
def _shared() -> Iterator[SharedPort]:
    made = SharedPort(LOOPBACK, free_port())
    yield made
    made.close()


def test_connections_are_divided(shared: SharedPort) -> None:
    with ExitStack() as open_:
        sockets = [open_.enter_context(own_socket(shared)) for _ in range(2)]
        for each in sockets:
            each.listen()
        for _ in range(64):
            open_.enter_context(socket.create_connection(shared.getsockname(), 10))
        counts = [0, 0]

        def all_are_there() -> bool:
            for number, each in enumerate(sockets):
                counts[number] += accepted(each, open_)
            return sum(counts) == 64

        wait_until(all_are_there, 60, "the connections")
    assert min(counts) >= 10  # with fewer once in a hundred million runs


@pytest.mark.parametrize("listens", [False, True])
def test_no_other_program_can_take_the_port(shared: SharedPort, listens: bool) -> None:
    with own_socket(shared) as ours:
        if listens:
            ours.listen()
        with pytest.raises(OSError, match="in use"):
            SharedPort(*shared.getsockname())
        assert not is_free(shared.getsockname()[1])
    with pytest.raises(OSError, match="in use"):  # nor when all of its processes have died
        SharedPort(*shared.getsockname())


def test_a_second_server_on_a_port_reports_it_and_exits(server: tuple[Command, int]) -> None:
    running, port = server
    second = subprocess.run(running.command, capture_output=True, text=True, timeout=180, check=False)
    assert second.returncode == 1
    assert f"Cannot listen on {LOOPBACK} port {port} (Address already in use): stop the program" in second.stderr
    assert answers(port)


def test_requests_after_a_process_was_killed_are_answered(server: tuple[Command, int]) -> None:
    running, port = server
    assert running.pid is not None
    assert all(answers(port) for _ in range(20))
    killed = listeners(port)[0]
    os.kill(running.pid, signal.SIGSTOP)  # it would start another one
    try:
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len(listeners(port)) == 1, 60, "the end of its socket")
        assert all(answers(port) for _ in range(20))
    finally:
        os.kill(running.pid, signal.SIGCONT)
    wait_until(lambda: len(listeners(port)) == 2, 60, "another one")
    assert all(answers(port) for _ in range(20))


def test_a_process_that_stands_still_is_replaced(server: tuple[Command, int]) -> None:
    _, port = server
    stopped = listeners(port)[0]
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: stopped not in listeners(port), 60, "its end")
    wait_until(lambda: len(listeners(port)) == 2, 60, "another one")
    assert all(answers(port) for _ in range(20))


@pytest.fixture(name="hangup_ends", autouse=True)
def _hangup_ends() -> Iterator[None]:
    """Servers end at SIGHUP, also where it is ignored, as under nohup: what is ignored is inherited."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_processes_end_when_their_supervisor_has_died(server: tuple[Command, int], number: signal.Signals) -> None:
    """They would keep the port, and another service could not be started."""
    running, port = server
    children = listeners(port)
    assert running.pid is not None
    os.kill(running.pid, number)
    wait_until(lambda: not any(map(psutil.pid_exists, children)), 60, "the end of its processes")
    SharedPort(LOOPBACK, port).close()
