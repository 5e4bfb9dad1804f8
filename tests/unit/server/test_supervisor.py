"""The supervisor's processes, with applications that serve nothing."""

import os
import subprocess
import sys
import textwrap

import pytest

PREPARE = """
import errno, os, signal, sys, threading, time, types
from multiprocessing.process import BaseProcess

process = types.ModuleType("api.server.process")  # it would import all of the application
process.END_SECONDS, process.run = 600, lambda load, listening: load()
sys.modules[process.__name__] = process
import api.server.supervisor as module

module.CHECK_SECONDS = module.RETRY_SECONDS = 0.05
module.HUNG_SECONDS = 600
started = os.pipe()

def wait_forever():
    os.write(started[1], b"%d\\n" % os.getpid())
    for _ in range(12_000):  # a signal that comes just before a pause is handled after it
        time.sleep(0.05)

supervisor = module.Supervisor(wait_forever, None, 2)

def pids(count):
    with os.fdopen(os.dup(started[0])) as lines:
        return [int(lines.readline()) for _ in range(count)]

def in_background(job):
    threading.Thread(target=job, daemon=True).start()

checks, is_well = [], module.Child.is_well

def check(child):
    checks.append(is_well(child))
    return checks[-1]

module.Child.is_well = check

def further_checks(count):
    before = len(checks)
    while len(checks) < before + count:
        time.sleep(0.01)
    return checks[before:]
"""


def run(code: str, prepare: str = PREPARE) -> "subprocess.CompletedProcess[str]":
    """Run the code in a process of its own."""
    command = [sys.executable, "-c", prepare + textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_process_that_cannot_be_started_is_tried_again() -> None:
    ended = run(
        """
        real, refusals = os.fork, iter([OSError(errno.EAGAIN, "no more processes")] * 2)

        def refuse():
            for error in refusals:
                raise error
            return real()

        def test():
            first, _ = pids(2)
            os.fork = refuse
            os.kill(first, signal.SIGKILL)
            print(len(pids(1)), "more")
            os.kill(os.getpid(), signal.SIGTERM)

        in_background(test)
        supervisor.run()
        print("stopped")
        """
    )
    assert (ended.returncode, ended.stdout) == (0, "1 more\nstopped\n"), ended.stderr


def test_no_process_is_left_if_the_supervisor_fails() -> None:
    ended = run(
        """
        def test():
            first, second = pids(2)
            print(second)
            os.fork = lambda: (_ for _ in ()).throw(OSError(errno.EMFILE, "no more files"))
            os.kill(first, signal.SIGKILL)

        in_background(test)
        supervisor.run()
        """
    )
    assert ended.returncode == 1
    assert "no more files" in ended.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout), 0)


def test_a_signal_during_the_start_stops_all() -> None:
    ended = run(
        """
        real, forks = os.fork, []

        def fork():
            forks.append(None)
            if len(forks) == 1:
                os.kill(os.getpid(), signal.SIGTERM)
            return real()

        os.fork = fork
        supervisor.run()
        print(len(forks), "stopped")
        """
    )
    assert (ended.returncode, ended.stdout) == (0, "2 stopped\n"), ended.stderr


TELL = f"""{PREPARE}
def tell():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.write(started[1], b"%d\\n" % number))
    wait_forever()

supervisor = module.Supervisor(tell, None, 2)
"""
"""Processes that write the number of each signal, and end at none."""


def test_ctrl_c_reaches_a_process_as_one_signal() -> None:
    ended = run(
        """
        os.setpgrp()

        def test():
            pids(2)
            os.killpg(0, signal.SIGINT)  # as a terminal does
            print(*pids(2), flush=True)
            os.killpg(0, signal.SIGKILL)

        in_background(test)
        supervisor.run()
        """,
        TELL,
    )
    assert ended.stdout == "15 15\n", ended.stderr


def test_a_second_ctrl_c_ends_what_does_not_stop() -> None:
    ended = run(
        """
        def test():
            pids(2)
            os.kill(os.getpid(), signal.SIGINT)
            pids(2)
            waits.wait()
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # interrupts no system call of the main thread

        def wait(process, seconds=None):
            waits.set()
            return join(process, seconds)

        waits, join = threading.Event(), BaseProcess.join
        BaseProcess.join = wait
        in_background(test)
        supervisor.run()
        print("stopped")
        """,
        TELL,
    )
    assert (ended.returncode, ended.stdout) == (0, "stopped\n"), ended.stderr


def test_a_process_that_fails_at_its_start_is_not_started_again_at_once() -> None:
    ended = run(
        """
        def test():
            while any(further_checks(2)):
                pass
            print(further_checks(20))
            os.kill(os.getpid(), signal.SIGTERM)

        module.RETRY_SECONDS = 600
        supervisor = module.Supervisor(lambda: sys.exit("not today"), None, 2)
        in_background(test)
        supervisor.run()
        """
    )
    assert (ended.returncode, ended.stdout) == (0, f"{[False] * 20}\n"), ended.stderr
    assert ended.stderr.count("not today") == 2


def test_processes_are_kept_when_all_have_stood_still() -> None:
    """None could send a heartbeat meanwhile."""
    ended = run(
        """
        now = time.monotonic
        module._beat = lambda *_: None
        module.time = types.SimpleNamespace(monotonic=now, sleep=time.sleep)

        def test():
            pids(2)
            module.time.monotonic = lambda: now() + 2 * module.HUNG_SECONDS
            print(all(further_checks(10)))
            os.kill(os.getpid(), signal.SIGTERM)

        in_background(test)
        supervisor.run()
        """
    )
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
