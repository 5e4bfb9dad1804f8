"""Keeps a number of server processes running on one port."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import Connection
from socket import socket

from api.server.process import END_SECONDS, run
from api.server.reuse_port import SharedPort

log = logging.getLogger(__name__)

CHECK_SECONDS = 0.5
HEARTBEAT_SECONDS = 1.0
HUNG_SECONDS = 10.0
"""A process without a heartbeat for so long is killed, and another started."""
START_SECONDS = 120.0
"""The same before its first heartbeat: it has yet to be loaded."""
KILL_SECONDS = END_SECONDS + 10
"""How long a process that was told to stop may take."""

_spawn = multiprocessing.get_context("spawn")


class Child:
    """One process, started at once."""

    def __init__(self, application: str, listening: SharedPort | socket) -> None:
        self._heartbeats, theirs = _spawn.Pipe(duplex=False)
        self._well_until = time.monotonic() + START_SECONDS
        self.process = _spawn.Process(target=_main, args=(application, listening, theirs))
        self.process.start()
        theirs.close()

    def is_well(self) -> bool:
        """Whether it runs, and its heart has been heard lately."""
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
        """Start them, and start another for each that ends. Returns when all have ended."""
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
    """What a process runs. What it was given as a SharedPort comes as a socket of its own."""
    threading.Thread(target=_beat, args=(heartbeat,), name="heartbeat", daemon=True).start()
    run(application, listening)


def _beat(heartbeat: Connection) -> None:
    try:
        while True:
            heartbeat.send_bytes(b".")
            time.sleep(HEARTBEAT_SECONDS)
    except OSError:  # the supervisor has died, and nobody else would ever end this process or free its port
        os.kill(os.getpid(), signal.SIGTERM)
