"""The files in which the processes of a host count, one set for each slot.

A process takes the first free slot of PROMETHEUS_MULTIPROC_DIR and goes on with the counts that its files have, as the
process before it left them. So there are never more files than there were processes at a time, however often they are
restarted. A slot is free if nobody holds the lock of its file, which the system releases with the process.
"""

import fcntl
import os
from itertools import count
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

LOCK = "slot_{}.lock"


class Slot:
    """The slot of this process. A forked child takes one of its own. Not thread-safe: prometheus_client locks."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process = 0
        self._lock = -1
        self._number = 0

    def number(self) -> int:
        """The slot's number, from 1, as prometheus_client asks for it at each count."""
        if self._process != os.getpid():
            self._take()
        return self._number

    def _take(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)  # the parent's: it would outlive the parent
        for number in count(1):
            lock = take_lock(self._directory, number)
            if lock is not None:
                self._process, self._lock, self._number = os.getpid(), lock, number
                mark_process_dead(number, str(self._directory))  # type: ignore[no-untyped-call]
                return


def take_lock(directory: Path, number: int) -> int | None:
    """The descriptor of a slot's lock; None if another process has it."""
    descriptor = os.open(directory / LOCK.format(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def forget_ended_processes(directory: Path) -> None:
    """Remove the gauges of processes that have ended; what they have counted stays."""
    for path in directory.glob(LOCK.format("*")):
        number = int(path.stem.rpartition("_")[2])
        lock = take_lock(directory, number)
        if lock is not None:
            mark_process_dead(number, str(directory))  # type: ignore[no-untyped-call]
            os.close(lock)
