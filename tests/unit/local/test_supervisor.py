"""The supervisor with small children of its own, in a process of its own: signals and leashes are real."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from bulksms.local.command import Command
from bulksms.local.errors import LocalError
from bulksms.local.files import LOG_LIMIT
from bulksms.local.supervisor import Supervisor
from tests.harness.house import wait_until

SUPERVISOR = """
import os, sys
from pathlib import Path
from bulksms.local.command import Command
from bulksms.local.supervisor import Stopped, Supervisor
folder = Path(sys.argv[1])
with Supervisor() as supervisor:
    for name, code in zip(sys.argv[2::2], sys.argv[3::2]):
        command = [sys.executable, "-u", "-c", code]
        supervisor.start(Command(name, command, os.environ, folder / f"{name}.log", folder))
    print("running", flush=True)
    supervisor.run()
print("stopped", flush=True)
"""
SLEEPER = "import os, time; print(os.getpid()); time.sleep(600)"
POLITE = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (open(sys.argv[0] + {name!r}, "w").write(str(time.monotonic())), os._exit(0)))
print(os.getpid())
time.sleep(600)
"""
PARENT = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)
time.sleep(600)
"""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def run(*children: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SUPERVISOR, str(tmp_path), *children]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=60)


def pids(log: Path) -> list[int]:
    """Those printed so far. A child writes a number and the end of its line in two steps, and may die between them."""
    lines = log.read_text().splitlines(keepends=True) if log.exists() else []
    return [int(line) for line in lines if line.endswith("\n")]


def gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_children(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    supervisor = start("one", SLEEPER, "two", SLEEPER)
    wait_until(lambda: pids(tmp_path / "one.log") and pids(tmp_path / "two.log"), 60, "both children")
    supervisor.send_signal(number)
    out, _ = supervisor.communicate(timeout=60)
    assert out == "stopped\n"
    assert supervisor.returncode == 0
    assert all(gone(pid) for name in ("one", "two") for pid in pids(tmp_path / f"{name}.log"))


def test_a_child_that_dies_is_started_again(start: Start, tmp_path: Path) -> None:
    supervisor = start("child", SLEEPER)
    log = tmp_path / "child.log"
    wait_until(lambda: len(pids(log)) == 1, 60, "the child")
    os.kill(pids(log)[0], signal.SIGKILL)
    wait_until(lambda: len(pids(log)) == 2, 60, "another child")
    supervisor.terminate()
    _, output = supervisor.communicate(timeout=60)
    assert f"child was ended by SIGKILL; restarting it in 0.5 s (log: {log})" in output


def test_a_child_that_keeps_dying_is_started_less_and_less_often(start: Start, tmp_path: Path) -> None:
    supervisor = start("child", "import time, os; print(os.getpid()); time.sleep(0.1); os._exit(3)")
    wait_until(lambda: len(pids(tmp_path / "child.log")) >= 3, 60, "two restarts")
    supervisor.terminate()
    _, output = supervisor.communicate(timeout=60)
    assert "ended with exit code 3; restarting it in 0.5 s" in output
    assert "ended with exit code 3; restarting it in 1.0 s" in output


def test_children_are_stopped_in_reverse_order(start: Start, tmp_path: Path) -> None:
    children = {name: POLITE.replace("sys.argv[0]", repr(str(tmp_path) + "/")) for name in ("first", "second")}
    named = [part for name, code in children.items() for part in (name, code.format(name=name))]
    supervisor = start(*named)
    wait_until(lambda: pids(tmp_path / "first.log") and pids(tmp_path / "second.log"), 60, "both children")
    supervisor.terminate()
    supervisor.communicate(timeout=60)
    assert float((tmp_path / "second").read_text()) < float((tmp_path / "first").read_text())


def test_children_end_with_a_killed_supervisor(start: Start, tmp_path: Path) -> None:
    supervisor = start("child", SLEEPER)
    wait_until(lambda: pids(tmp_path / "child.log"), 60, "the child")
    supervisor.kill()
    supervisor.communicate(timeout=60)
    wait_until(lambda: gone(pids(tmp_path / "child.log")[0]), 60, "the end of the child")


def test_processes_that_a_dead_child_had_started_are_killed(start: Start, tmp_path: Path) -> None:
    start("child", PARENT)
    log = tmp_path / "child.log"
    wait_until(lambda: pids(log), 60, "the child")
    orphan = pids(log)[0]
    parent = psutil.Process(orphan).ppid()
    os.kill(parent, signal.SIGKILL)
    wait_until(lambda: len(pids(log)) == 2, 60, "another child")
    wait_until(lambda: gone(orphan), 60, "the end of its process")


def test_a_child_that_is_never_ready_is_shown_with_its_log(tmp_path: Path) -> None:
    code = "import time; print('waiting for a friend', flush=True); time.sleep(600)"
    log = tmp_path / "lonely.log"

    def is_ready() -> bool:
        """Never, but only after it has said why."""
        wait_until(lambda: log.read_text() != "", 60, "its reason")
        return False

    child = Command("lonely", [sys.executable, "-c", code], os.environ, log, tmp_path, is_ready)
    with (
        pytest.raises(LocalError, match=r"lonely was not ready after 1 s.\n.*lonely.log:\nwaiting for a friend"),
        Supervisor(report=lambda _: None) as supervisor,
    ):
        supervisor.start(child, timeout=1)
    assert gone(child.pid)


def test_a_large_log_is_put_aside(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    log.touch()
    os.truncate(log, LOG_LIMIT + 1)
    with Command("child", [sys.executable, "-c", "print('new')"], os.environ, log, tmp_path) as child:
        child.launch()
        wait_until(lambda: child.exit_code() == 0, 60, "the end of the child")
    assert log.read_text() == "new\n"
    assert (tmp_path / "child.log.1").stat().st_size == LOG_LIMIT + 1


def test_a_process_group_is_killed_only_while_its_number_is_the_childs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later the kernel may have given the number to a stranger."""
    killed: list[str] = []
    monkeypatch.setattr(os, "killpg", lambda pid, _: killed.append(psutil.Process(pid).status()))
    child = Command("short", [sys.executable, "-c", ""], os.environ, tmp_path / "short.log", tmp_path)
    child.launch()
    wait_until(lambda: child.exit_code() == 0, 60, "the end of the child")
    child.stop()
    child.kill()
    assert killed == [psutil.STATUS_ZOMBIE]
