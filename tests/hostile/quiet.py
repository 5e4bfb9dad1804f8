"""Waits until the machine has nothing to do, so that one attack is not measured with the work of the one before."""

import time
from pathlib import Path

BUSY = 0.1
"""The part of all processors that may work."""
WATCHED_SECONDS = 3.0


def wait_for_quiet(seconds: float, watched: float = WATCHED_SECONDS, busy: float = BUSY) -> float:
    """Wait until the processors were idle for a while, at most so many seconds.

    Returns the part of them that worked at last.
    """
    deadline = time.monotonic() + seconds
    while True:
        total, idle = _processor_times()
        time.sleep(watched)
        total_after, idle_after = _processor_times()
        working = 1 - (idle_after - idle) / max(1, total_after - total)
        if working <= busy or time.monotonic() >= deadline:
            return working


def _processor_times() -> tuple[int, int]:
    """All time of all processors since the start, and their idle time, in ticks (proc(5))."""
    times = [int(each) for each in Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]]
    return sum(times), times[3] + times[4]
