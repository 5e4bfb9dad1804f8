"""Tasks that come together share the work that each of them asks for."""

import threading
import time

import pytest

from worker import tasks as module
from worker.tasks import Coalescer


class Counted:
    """Work that is counted, and finds nothing after so many times."""

    def __init__(self, finds: int = 0) -> None:
        self.begun = 0
        self._finds = finds

    def __call__(self) -> int:
        self.begun += 1
        return int(self.begun <= self._finds)


class Stop(threading.Event):
    """An event whose waiting a test ends."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.go_on = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.waiting.set()
        assert self.go_on.wait(120)
        return False


def test_a_thousand_calls_share_the_work_of_the_one_that_waits() -> None:
    work, stop = Counted(), Stop()
    coalescer = Coalescer(work, stop, clock=lambda: 0.0)
    coalescer.run()
    assert work.begun == 1, "the first need not wait"
    waiting = threading.Thread(target=coalescer.run, daemon=True)
    waiting.start()
    assert stop.waiting.wait(60)
    for _ in range(1_000):
        coalescer.run()
    assert work.begun == 1
    stop.go_on.set()
    waiting.join(60)
    assert work.begun == 2, "begun after the last call"


def test_a_call_while_another_works_works_too() -> None:
    """What was committed after that one began is found."""
    let, begun = threading.Event(), []

    def work() -> int:
        begun.append(1)
        return int(let.wait(120))

    coalescer = Coalescer(work, threading.Event())
    threads = [threading.Thread(target=coalescer.run, daemon=True) for _ in range(2)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        deadline = time.monotonic() + 60
        while len(begun) < number:
            assert time.monotonic() < deadline
            time.sleep(0.001)
    let.set()
    for thread in threads:
        thread.join(60)
    assert len(begun) == 2


def test_an_error_keeps_nobody_from_working(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EMPTY_SECONDS", 0.0)

    def fail() -> int:
        raise ZeroDivisionError

    coalescer = Coalescer(fail, threading.Event())
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            coalescer.run()
