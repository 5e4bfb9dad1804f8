"""Keeps a number of server processes running on one port.

The processes are forked from the supervisor, which has loaded the code of the application and runs nothing of it: a
process starts in a tenth of a second, and they share the memory. So the supervisor has neither threads nor connections.
"""

import gc
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from socket import socket
from typing import Any

from api.server.process import run
from api.server.reuse_port import SharedPort
from api.server.shutdown_timeouts import KILL_SECONDS

log = logging.getLogger(__name__)

CHECK_SECONDS = 0.5
HEARTBEAT_SECONDS = 1.0
HUNG_SECONDS = 10.0
"""A process without a heartbeat for this long is killed and replaced."""
START_SECONDS = 120.0
"""The same before the first heartbeat, while the process loads the application."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_fork = multiprocessing.get_context("fork")


class Child:
    """A server process. Creating the object starts it."""

    def __init__(self, load: Callable[[], Any], listening: SharedPort | socket) -> None:
        self._heartbeats, theirs = _fork.Pipe(duplex=False)
        self._well_until = time.monotonic() + START_SECONDS
        self.process = _fork.Process(target=_main, args=(load, listening, theirs, os.getpid()))
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # until the process no longer has our handlers
        self.process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        theirs.close()

    def is_well(self) -> bool:
        """Whether the process runs and has sent a heartbeat recently."""
        try:
            while self._heartbeats.poll():
                self._heartbeats.recv_bytes()
                self._well_until = time.monotonic() + HUNG_SECONDS
        except (EOFError, OSError):
            return False
        return self.process.is_alive() and time.monotonic() < self._well_until

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()
        self._heartbeats.close()


class Supervisor:
    """Runs `count` processes, each with the ASGI application that `load` returns in it, until SIGTERM or SIGINT."""

    def __init__(self, load: Callable[[], Any], listening: SharedPort | socket, count: int) -> None:
        self._load = load
        self._listening = listening
        self._count = count
        self._stop = threading.Event()

    def run(self, when_started: Callable[[], object] | None = None) -> None:
        """Start the processes, and replace those that end or hang. Returns after a signal, when all have ended."""
        for number in STOP_SIGNALS:
            signal.signal(number, lambda *_: self._stop.set())
        gc.collect()
        gc.freeze()  # a collection would copy the pages of what is shared
        children = [self._start() for _ in range(self._count)]
        if when_started is not None:
            when_started()
        while not self._stop.wait(CHECK_SECONDS):
            for index, child in enumerate(children):
                if not child.is_well():
                    child.kill()
                    log.warning("process %s ended (%s)", child.process.pid, child.process.exitcode)
                    children[index] = self._start()
        for child in children:
            child.process.terminate()
        for child in children:
            child.process.join(KILL_SECONDS)
            child.kill()

    def _start(self) -> Child:
        return Child(self._load, self._listening)


def _main(load: Callable[[], Any], listening: SharedPort | socket, heartbeat: Connection, supervisor: int) -> None:
    """The entry point of a process."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    threading.Thread(target=_beat, args=(heartbeat, supervisor), name="heartbeat", daemon=True).start()
    run(load, listening.own_socket() if isinstance(listening, SharedPort) else listening)


def _beat(heartbeat: Connection, supervisor: int) -> None:
    while os.getppid() == supervisor:
        heartbeat.send_bytes(b".")
        time.sleep(HEARTBEAT_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)  # nobody else would stop this process and free its port
