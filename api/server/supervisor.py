"""Keeps a number of server processes running on one port."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import Connection
from socket import socket

from api.server.reuse_port import SharedPort
from api.server.shutdown_timeouts import KILL_SECONDS

log = logging.getLogger(__name__)

CHECK_SECONDS = 0.5
HEARTBEAT_SECONDS = 1.0
HUNG_SECONDS = 10.0
"""A process without a heartbeat for this long is killed and replaced."""
START_SECONDS = 120.0
"""The same before the first heartbeat, while the process loads the application."""

_spawn = multiprocessing.get_context("spawn")


class Child:
    """A server process. Creating the object starts it."""

    def __init__(self, application: str, listening: SharedPort | socket) -> None:
        self._heartbeats, theirs = _spawn.Pipe(duplex=False)
        self._well_until = time.monotonic() + START_SECONDS
        self.process = _spawn.Process(target=_main, args=(application, listening, theirs))
        self.process.start()
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
    """Runs `count` processes of an application until SIGTERM or SIGINT."""

    def __init__(self, application: str, listening: SharedPort | socket, count: int) -> None:
        self._application = application
        self._listening = listening
        self._count = count
        self._stop = threading.Event()

    def run(self) -> None:
        """Start the processes, and replace those that end or hang. Returns after a signal, when all have ended."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._stop.set())
        children = [self._start() for _ in range(self._count)]
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
        return Child(self._application, self._listening)


def _main(application: str, listening: socket, heartbeat: Connection) -> None:
    """The entry point of a process. A SharedPort arrives as a socket of this process."""
    from api.server.process import run  # with the whole application, which the supervisor does not need

    threading.Thread(target=_beat, args=(heartbeat,), name="heartbeat", daemon=True).start()
    run(application, listening)


def _beat(heartbeat: Connection) -> None:
    try:
        while True:
            heartbeat.send_bytes(b".")
            time.sleep(HEARTBEAT_SECONDS)
    except OSError:  # the supervisor has died: nobody else would stop this process and free its port
        os.kill(os.getpid(), signal.SIGTERM)
