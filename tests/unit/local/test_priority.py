"""The priority of a process, and of its session on Linux."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared import priority

REPORT = """
import os, sys
from pathlib import Path
from shared import priority
priority.AUTOGROUP = Path(sys.argv[1])
priority.lower_priority(3)
print(os.getpriority(os.PRIO_PROCESS, 0))
"""


def niceness_after(autogroup: Path, *, new_session: bool) -> int:
    """The niceness of a process that has lowered its priority by three, with its session's in `autogroup`."""
    command = [sys.executable, "-c", REPORT, str(autogroup)]
    return int(subprocess.check_output(command, text=True, timeout=60, start_new_session=new_session))


@pytest.fixture
def autogroup(tmp_path: Path) -> Path:
    path = tmp_path / "autogroup"
    path.write_text("0")
    return path


def test_the_session_of_its_leader_gets_the_same_niceness(autogroup: Path) -> None:
    assert niceness_after(autogroup, new_session=True) == os.getpriority(os.PRIO_PROCESS, 0) + 3
    assert autogroup.read_text() == "3"


def test_it_stays_where_the_process_may_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(niceness: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    own = os.getpriority(os.PRIO_PROCESS, 0)
    monkeypatch.setattr(os, "nice", refuse)
    priority.lower_priority(3)
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
