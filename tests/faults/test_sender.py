"""Faults of the workers' processes.

A crash point is reached by one of a worker's threads, and the windows of the others are then at the carrier: so the
bound on what is in doubt is always the worker's window.
"""

import os
import resource
import signal
import time
from pathlib import Path

import psutil
import pytest
from sqlalchemy import text

from tests.faults.ground import LEASE, WINDOW, Fault
from tests.harness.house import STEADY, wait_until
from worker.sending.settle_rest import MAX_CRASHES

POISON_FOLDER = Path(__file__).parent / "poison"
POISON = "25488"


def crash_at(fault: Fault, crashpoint: str, hit: int, in_doubt: int) -> None:
    """A third worker dies at the crash point in the middle of the workload."""
    house = fault.house
    house.more["worker"] = {"CRASHPOINT": f"{crashpoint}:exit:{hit}", "LEASE_SECONDS": str(LEASE)}
    house.start_workers(1)
    house.more["worker"] = {}
    armed = house.workers[-1]
    with fault.workload(progress=False):
        wait_until(lambda: armed.exit_code() is not None, 60, "the crash")
        house.workers.remove(armed)
        armed.stop()
    fault.check(in_doubt=in_doubt)


@pytest.mark.parametrize("settings", [STEADY])
def test_killed_while_it_claims(fault: Fault) -> None:
    crash_at(fault, "claim.before_commit", 3, WINDOW)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [STEADY])
def test_killed_after_its_claim(fault: Fault) -> None:
    crash_at(fault, "claim.committed", 3, WINDOW)


@pytest.mark.parametrize("settings", [{"SIMULATOR_ROUND_TRIP": "1"}])
def test_killed_with_windows_at_the_carrier(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        house.kill_worker()
        house.start_workers(1)
        time.sleep(1)
        house.kill_worker()
        house.start_workers(1)
    fault.check(in_doubt=2 * WINDOW)


@pytest.mark.parametrize("settings", [STEADY])
def test_killed_after_the_responses(fault: Fault) -> None:
    crash_at(fault, "submit.answered", 3, WINDOW)


@pytest.mark.parametrize("settings", [{"SIMULATOR_WINDOW": "40", **STEADY}])
@pytest.mark.parametrize("crashpoint", ["record.committed", "settle_complete.before_commit"])
def test_killed_between_record_and_settlement(fault: Fault, crashpoint: str) -> None:
    crash_at(fault, crashpoint, 2, WINDOW)


@pytest.mark.parametrize("settings", [{"SIMULATOR_ROUND_TRIP": "0.3"}])
def test_stopped_for_three_leases(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        stopped = house.workers[0].pid
        os.kill(stopped, signal.SIGSTOP)
        time.sleep(3 * LEASE)
        os.kill(stopped, signal.SIGCONT)
    fault.check(in_doubt=WINDOW)


@pytest.mark.parametrize("settings", [{"SIMULATOR_RATE": "600"}])
def test_twice_as_many_workers_as_intended(fault: Fault) -> None:
    house = fault.house
    with fault.workload(progress=False):
        house.start_workers(2)
    fault.check()
    with house.engine.connect() as connection:
        books = "SELECT count(*) AS messages, extract(epoch FROM max(at) - min(at)) AS seconds FROM simulated_submit"
        row = connection.execute(text(books)).one()
    assert row.seconds >= 0.9 * (row.messages - 2 * 600) / 600, "together they keep to the carrier's rate"


def test_out_of_memory(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        victim = psutil.Process(house.workers[0].pid)
        size = victim.memory_info().vms
        victim.rlimit(resource.RLIMIT_AS, (size, size))
        time.sleep(3)
        house.kill_worker()
        house.start_workers(1)
    fault.check(in_doubt=WINDOW)


def test_a_driver_that_fails_every_time(fault: Fault) -> None:
    house = fault.house
    house.more["worker"] = {"PYTHONPATH": f"{POISON_FOLDER}:{Path.cwd()}", "POISON": POISON}
    for _ in range(2):
        house.kill_worker()
    house.start_workers(2)
    with fault.workload():
        phones = [f"{POISON}{number:07d}" for number in range(1000)]
        poisoned = house.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"]
        fault.sends[poisoned] = 1000
        fault.ended_otherwise.add(poisoned)
        wait_until(lambda: house.get(f"/sends/{poisoned}")["status"] == "held", 120, "the hold")
        counts = house.get(f"/sends/{poisoned}")["counts"]
        assert counts["in_doubt"] <= MAX_CRASHES * WINDOW
        house.post(f"/sends/{poisoned}/cancel")
    fault.check(in_doubt=MAX_CRASHES * WINDOW)
