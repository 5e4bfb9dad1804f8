"""The files in which the processes of a host count, one set for each slot.

prometheus_client would name them by process ids, and never remove them: each restart would leave some. A process takes
the first free slot of PROMETHEUS_MULTIPROC_DIR instead, and goes on with the counts of the one before it. A slot is
free if nobody holds the lock of its file, which the system releases with the process.
"""

import fcntl
import os
from itertools import count
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

LOCK = "slot_{}.lock"


def take_slot(directory: Path) -> int:
    """The number, from 1, of the first free slot, which is this process's until it ends. Its processes do not fork."""
    return next(number for number in count(1) if _take(directory, number) is not None)


def forget_ended_processes(directory: Path) -> None:
    """Remove the gauges of processes that have ended; what they have counted stays."""
    for path in directory.glob(LOCK.format("*")):
        lock = _take(directory, int(path.stem.rpartition("_")[2]))
        if lock is not None:
            os.close(lock)


def _take(directory: Path, number: int) -> int | None:
    """Lock a slot and remove the gauges in it. Returns the lock's descriptor; None if another process has it."""
    descriptor = os.open(directory / LOCK.format(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    mark_process_dead(number, str(directory))  # type: ignore[no-untyped-call]
    return descriptor
