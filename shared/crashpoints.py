"""Points in the code at which tests make a process die, stop or fail: `CRASHPOINT=settle_rest.before_commit:exit:3`.

The third part is the number of the hit, from 1. Without the variable a crash point does nothing.

    exit    the process ends at once, as by SIGKILL
    stop    the process is stopped by SIGSTOP, until somebody sends SIGCONT
    raise   an exception
"""

import itertools
import os
import signal
import threading

NAMES = (
    "accept.before_commit",
    "accept.committed",
    "accept.published",
    "expand.before_commit",
    "expand.committed",
    "claim.before_commit",
    "claim.committed",
    "submit.before",
    "submit.answered",
    "copy.doubt",
    "copy.event",
    "record.before_commit",
    "record.committed",
    "settle_complete.before_commit",
    "settle_complete.committed",
    "settle_rest.before_commit",
    "settle_rest.committed",
    "recover.before_commit",
    "receipts.before_commit",
    "receipts.committed",
    "smpp.claimed",
    "smpp.before_delivery",
    "smpp.delivered",
    "smpp.before_commit",
)
MODES = ("exit", "stop", "raise")


class CrashPoint(RuntimeError):
    """Raised by a crash point."""


def _armed() -> tuple[str, str, int] | None:
    setting = os.environ.get("CRASHPOINT")
    if not setting:
        return None
    name, mode, hit = setting.split(":")
    if name not in NAMES or mode not in MODES:
        raise ValueError(f"CRASHPOINT={setting!r}: there is no such crash point or mode")
    return name, mode, int(hit)


_ARMED = _armed()
_hits = itertools.count(1)


def crashpoint(name: str) -> None:
    """Die, stop or fail here, if CRASHPOINT names this point and hit."""
    if _ARMED is None or _ARMED[0] != name or next(_hits) != _ARMED[2]:
        return
    if _ARMED[1] == "exit":
        os._exit(137)
    if _ARMED[1] == "stop":
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # this thread first, so that it goes no further
    else:
        raise CrashPoint(name)
