"""Faults of the API's processes."""

import os
import signal
import time

from tests.faults.ground import Fault


def crash_at(fault: Fault, crashpoint: str) -> None:
    """Run the API so that each of its processes dies at the crash point again and again, then as it should be."""
    house = fault.house
    house.more["api"] = {"CRASHPOINT": f"{crashpoint}:exit:4"}
    assert house.api is not None
    house.api.stop()
    house.start_api()
    with fault.workload():
        time.sleep(4)
        house.more["api"] = {}
        house.api.stop()
        house.start_api()
    broken = [each for wanted in fault.traffic.wanted for each in wanted.tries if each.status is None]
    assert broken, "no process died"
    fault.check()


def test_killed_before_the_commit(fault: Fault) -> None:
    crash_at(fault, "accept.before_commit")


def test_killed_after_the_commit(fault: Fault) -> None:
    crash_at(fault, "accept.committed")


def test_killed_before_the_response(fault: Fault) -> None:
    crash_at(fault, "accept.published")


def test_killed_as_a_whole(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        for _ in range(3):
            assert house.api is not None
            os.kill(house.api.pid, signal.SIGKILL)
            house.wait_reviving(house.is_answering, 60, "the API")
    fault.check()


def test_asked_to_stop(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        assert house.api is not None
        began = time.monotonic()
        house.api.stop(timeout=60)
        stopping = time.monotonic() - began
        house.start_api()
    assert stopping <= 30, "what is under way is answered, and then it ends"
    fault.check()
