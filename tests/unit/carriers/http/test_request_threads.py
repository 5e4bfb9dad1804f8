"""The threads of an HTTP carrier go on although the machine had none to give for a moment."""

import threading
from concurrent.futures import Future

import pytest

from worker.carriers.http.request_threads import RequestThreads

PATIENCE = 60.0


def fail(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def run(threads: RequestThreads) -> str:
    name: Future[str] = Future()
    threads.submit(lambda: name.set_result(threading.current_thread().name))
    return name.result(PATIENCE)


@pytest.fixture
def threads() -> RequestThreads:
    return RequestThreads(2, "web-request")


def test_it_works(threads: RequestThreads) -> None:
    assert {run(threads) for _ in range(5)} <= {"web-request-0", "web-request-1"}
    threads.stop(PATIENCE)


def test_without_a_thread_nothing_is_called(threads: RequestThreads) -> None:
    called: list[None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError):
            threads.submit(lambda: called.append(None))
    assert run(threads) == "web-request-0"
    threads.stop(PATIENCE)
    assert called == []


def test_those_that_run_do_the_work_of_one_that_cannot_be_started(
    threads: RequestThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(threads) == "web-request-0"
    monkeypatch.setattr(threading.Thread, "start", fail)
    assert run(threads) == "web-request-0"
    threads.stop(PATIENCE)
