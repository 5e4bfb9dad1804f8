"""A range of ports for each test process of a machine, however many test runs share it.

A port that is free now would otherwise be another process's when a server starts on it.
"""

import fcntl
import os
import tempfile
from pathlib import Path

RANGES, SIZE = 40, 300
"""Test processes of a machine at the same time, and the ports of each."""
FIRST = 8_000
"""The ranges end below the ports that programs started by a test choose for themselves (bulksms/local/ports.py)."""

_locks: list[int] = []
"""The open file of this process's range; its lock ends with the process."""


def take_range(folder: Path | None = None) -> range:
    """Lock a range that no other process holds. Raises OSError if all are taken."""
    folder = folder or Path(tempfile.gettempdir()) / "bulksms-test-ports"
    folder.mkdir(mode=0o777, parents=True, exist_ok=True)
    for number in range(RANGES):
        lock = os.open(folder / str(number), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        _locks.append(lock)
        return range(FIRST + number * SIZE, FIRST + (number + 1) * SIZE)
    raise OSError(f"{RANGES} test processes run on this machine; wait for one to end")
