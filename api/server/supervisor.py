"""Keeps a number of server processes running on one port.

The processes are forked from the supervisor, which has loaded the code of the application and runs nothing of it: a
process starts in a tenth of a second, and they share the memory. So the supervisor has neither threads nor connections.
"""

import errno
import gc
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from socket import socket
from typing import Any

from api.server.process import END_SECONDS, run
from api.server.reuse_port import SharedPort

log = logging.getLogger(__name__)

CHECK_SECONDS = 0.5
HEARTBEAT_SECONDS = 1.0
HUNG_SECONDS = 10.0
"""A process without a heartbeat for this long is killed and replaced."""
KILL_SECONDS = END_SECONDS + 10
"""How long a process may take to stop before it is killed."""
RETRY_SECONDS = 5.0
"""Seconds before a failed start is repeated, and at least between two starts of a process that ends with an error."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Load = Callable[[], Any]
"""Makes the ASGI application, in the process that is to serve it."""

_fork = multiprocessing.get_context("fork")


class Child:
    """A server process. Creating the object starts it, or raises OSError."""

    def __init__(self, load: Load, listening: SharedPort | socket, run_once: Callable[[], object] | None) -> None:
        self._heartbeats, theirs = _fork.Pipe(duplex=False)
        self.started = time.monotonic()
        self._silent_checks = 0
        self.process = _fork.Process(target=_main, args=(load, listening, theirs, os.getpid(), run_once))
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # until the process no longer has our handlers
        try:
            self.process.start()
        except OSError:
            self._heartbeats.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            theirs.close()

    def is_well(self) -> bool:
        """Whether the process runs and has sent a heartbeat recently. To be called every CHECK_SECONDS.

        It counts these checks, and not seconds: while all processes stand still, none can send a heartbeat.
        """
        self._silent_checks += 1
        try:
            while self._heartbeats.poll():
                self._heartbeats.recv_bytes()
                self._silent_checks = 0
        except (EOFError, OSError):
            return False
        return self.process.is_alive() and self._silent_checks * CHECK_SECONDS < HUNG_SECONDS

    def has_failed(self) -> bool:
        """Whether the process ended with an error of its own, and not by a signal."""
        return (self.process.exitcode or 0) > 0

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()
        self._heartbeats.close()


class Supervisor:
    """Runs `count` processes, each with the ASGI application that `load` returns in it, until SIGTERM or SIGINT.

    SIGINT once more ends them without waiting for open requests.
    """

    def __init__(self, load: Load, listening: SharedPort | socket, count: int) -> None:
        self._load = load
        self._listening = listening
        self._count = count
        self._next_start = 0.0
        """On the monotonic clock."""
        self._stopped, self._stop = _fork.Pipe(duplex=False)

    def run(self, run_once: Callable[[], object] | None = None) -> None:
        """Start the processes, and replace those that end or hang. Returns after a signal, when all have ended.

        `run_once` is called once, in a thread of the first process.
        """
        for number in STOP_SIGNALS:
            signal.signal(number, lambda *_: self._stop.send_bytes(b"."))
        gc.collect()
        gc.freeze()  # a collection would copy the pages of what is shared
        children: list[Child] = []
        try:
            for index in range(self._count):
                children.append(Child(self._load, self._listening, run_once if index == 0 else None))
            while not self._stopped.poll(CHECK_SECONDS):
                children = [child if child.is_well() else self._replaced(child) for child in children]
        finally:
            signal.signal(signal.SIGINT, lambda *_: _kill(children))
            for child in children:
                child.process.terminate()
            deadline = time.monotonic() + KILL_SECONDS
            for child in children:
                while child.process.is_alive() and time.monotonic() < deadline:
                    child.process.join(CHECK_SECONDS)  # a signal that comes just before it is handled after it
                child.kill()

    def _replaced(self, child: Child) -> Child:
        """Another one in its place. If there cannot be one now, the same, which is replaced some seconds later.

        Raises OSError if there are no descriptors left: each failed fork costs some.
        """
        earliest = child.started + RETRY_SECONDS if child.has_failed() else 0.0
        if time.monotonic() < max(self._next_start, earliest):
            return child
        hangs = child.process.is_alive()
        child.kill()
        why = f"had no heartbeat for {HUNG_SECONDS:g} s" if hangs else f"ended with exit code {child.process.exitcode}"
        log.warning("process %s %s, and is replaced", child.process.pid, why)
        try:
            return Child(self._load, self._listening, None)
        except OSError as error:
            if error.errno == errno.EMFILE:
                raise
            log.warning("no process can be started in its place, trying again in %g s: %s", RETRY_SECONDS, error)
            self._next_start = time.monotonic() + RETRY_SECONDS
            return child


def _kill(children: list[Child]) -> None:
    for child in children:
        child.process.kill()


def _main(
    load: Load,
    listening: SharedPort | socket,
    heartbeats: Connection,
    supervisor: int,
    run_once: Callable[[], object] | None,
) -> None:
    """The entry point of a process."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))  # Ctrl-C reaches us too, but is for the supervisor
    threading.Thread(target=_beat, args=(heartbeats, supervisor), name="heartbeat", daemon=True).start()
    if run_once is not None:
        threading.Thread(target=run_once, name="once", daemon=True).start()
    if isinstance(listening, SharedPort):
        own = listening.own_socket()
        listening.close()
        run(load, own)
    else:
        run(load, listening)


def _beat(heartbeats: Connection, supervisor: int) -> None:
    os.set_blocking(heartbeats.fileno(), False)
    while os.getppid() == supervisor:
        with suppress(BlockingIOError):  # it has been stopped for hours
            heartbeats.send_bytes(b".")
        time.sleep(HEARTBEAT_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)  # nobody else would stop this process and free its port
