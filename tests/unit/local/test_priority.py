"""The priority of a process, and of its session on Linux."""

import os
import subprocess
import sys

import pytest

from shared import priority

REPORT = """
import os
from shared.priority import AUTOGROUP, lower_priority
lower_priority({niceness})
print(os.getpriority(os.PRIO_PROCESS, 0), AUTOGROUP.read_text().split()[-1] if AUTOGROUP.exists() else "")
"""
NEEDS_AUTOGROUPS = pytest.mark.skipif(not priority.AUTOGROUP.exists(), reason="the kernel has no autogroups")


def niceness_of(niceness: int, *, new_session: bool) -> list[str]:
    """The niceness of a process that has lowered its priority, and that of its session."""
    command = [sys.executable, "-c", REPORT.format(niceness=niceness)]
    return subprocess.check_output(command, text=True, timeout=60, start_new_session=new_session).split()


@NEEDS_AUTOGROUPS
def test_the_session_of_its_leader_gets_the_same_niceness() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert niceness_of(3, new_session=True) == [str(own + 3), "3"]


@NEEDS_AUTOGROUPS
def test_the_session_of_others_stays_as_it_is() -> None:
    own, session = os.getpriority(os.PRIO_PROCESS, 0), priority.AUTOGROUP.read_text().split()[-1]
    assert niceness_of(3, new_session=False) == [str(own + 3), session]


def test_it_stays_where_the_process_may_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(niceness: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    own = os.getpriority(os.PRIO_PROCESS, 0)
    monkeypatch.setattr(os, "nice", refuse)
    priority.lower_priority(3)
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
