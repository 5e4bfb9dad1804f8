"""The priority of a process among the others on its machine, and of its threads among each other."""

import os
import sys
from contextlib import suppress
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")
"""The niceness of this process's session, where Linux shares the processors out among sessions (sched(7))."""
SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter while another one waits for it: a tenth of Python's default."""


def switch_threads_often() -> None:
    """Let no busy thread of this process hold up the others."""
    sys.setswitchinterval(SWITCH_SECONDS)


def lower_priority(niceness: int) -> None:
    """Lower the priority of this process, and of its session if it leads one, by `niceness`.

    Does nothing where the process may not change it: a service manager gives it a weight then.
    """
    with suppress(OSError):
        os.nice(niceness)
        if os.getsid(0) == os.getpid():
            AUTOGROUP.write_text(str(niceness))
