"""The priority of a process among the others on its machine."""

import os
from contextlib import suppress
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")
"""The niceness of this process's session, where Linux shares the processors out among sessions (sched(7))."""


def lower_priority(niceness: int) -> None:
    """Lower the priority of this process, and of its session if it leads one, by `niceness`.

    Does nothing where the process may not change it: a service manager gives it a weight then.
    """
    with suppress(OSError):
        os.nice(niceness)
        if os.getsid(0) == os.getpid():
            AUTOGROUP.write_text(str(niceness))
