"""What processes of a host have counted stays when they end, in a bounded number of files."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from shared.observability.metrics import DIRECTORY, HostCollector

COUNT = """
import sys
from shared.observability.metrics import CONNECTION_FAILURES
CONNECTION_FAILURES.labels("redis").inc()
print("counted", flush=True)
sys.stdin.read()
"""


@contextmanager
def counting(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has counted one failure, killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", COUNT],
        env={**os.environ, DIRECTORY: str(directory)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == "counted\n"
        yield process
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
        process.stdin.close()
        process.stdout.close()


def failures(directory: Path) -> float:
    registry = CollectorRegistry()
    registry.register(HostCollector(str(directory)))
    return registry.get_sample_value("bulksms_connection_failures_total", {"server": "redis"}) or 0.0


def files(directory: Path) -> int:
    return len([*directory.iterdir()])


def test_processes_that_are_killed_again_and_again_leave_the_files_of_one(tmp_path: Path) -> None:
    with counting(tmp_path):
        of_one = files(tmp_path)
    for _ in range(4):
        with counting(tmp_path):
            pass
    assert files(tmp_path) == of_one
    assert failures(tmp_path) == 5


def test_processes_that_run_at_the_same_time_have_files_of_their_own(tmp_path: Path) -> None:
    with counting(tmp_path):
        of_one = files(tmp_path)
        with counting(tmp_path):
            assert files(tmp_path) == 2 * of_one
            assert failures(tmp_path) == 2
        with counting(tmp_path):
            assert files(tmp_path) == 2 * of_one
    assert failures(tmp_path) == 3


def test_gauges_of_ended_processes_are_forgotten(tmp_path: Path) -> None:
    left = tmp_path / "gauge_livesum_1.db"
    with counting(tmp_path):
        left.write_bytes(bytes(64))
        failures(tmp_path)
        assert left.exists()
    failures(tmp_path)
    assert not left.exists()
