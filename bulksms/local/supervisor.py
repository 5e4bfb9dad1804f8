"""Keeps named child processes running in the foreground until it is told to stop."""

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from types import FrameType
from typing import Self

from bulksms.local.errors import LocalError
from bulksms.local.process import Process, describe

FIRST_DELAY, LONGEST_DELAY = 0.5, 10.0
"""Seconds before a child is started again: doubled from the first to the longest while it keeps ending."""
STEADY_SECONDS = 30.0
"""A child that ran this long has recovered: its next delay is the first again."""
STOP_SECONDS = 30.0
POLL_SECONDS = 0.1
NEWS_SECONDS = 5.0


class Stopped(Exception):
    """SIGINT or SIGTERM came while something was being started."""


def to_stderr(line: str) -> None:
    """One line for the person at the terminal."""
    print(line, file=sys.stderr, flush=True)


@dataclass(slots=True)
class _Child:
    process: Process
    started: float = field(default_factory=time.monotonic)
    delay: float = FIRST_DELAY
    due: float | None = None
    """When it is to be started again; None while it runs."""


class Supervisor:
    """Start children in order, start again those that end, stop all in reverse order.

    >>> with Supervisor() as supervisor:
    ...     supervisor.start(api)
    ...     supervisor.run()

    Use it in the main thread: signals arrive there, and children are leashed to the thread that started them.
    """

    def __init__(self, say: Callable[[str], None] = to_stderr) -> None:
        self._report = say
        self._children: list[_Child] = []
        self._stopping = False

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def start(self, process: Process, timeout: float = 60.0) -> None:
        """Start a child, wait until it is ready, and watch it from then on.

        Raises LocalError when it ends early or is not ready after `timeout` seconds, Stopped on a signal.
        """
        began = time.monotonic()
        self._children.append(_Child(process))
        process.launch()
        process.wait_ready(timeout, self._progress(process.name))
        self._report(f"  {process.name:<10} ready ({time.monotonic() - began:.1f} s)")

    def finish(self, process: Process, timeout: float = 600.0) -> None:
        """Run a process to its end.

        Raises LocalError when it fails or takes more than `timeout` seconds, Stopped on a signal.
        """
        began = time.monotonic()
        progress = self._progress(process.name)
        with process:
            process.launch()
            while process.exit_code() is None:
                if time.monotonic() - began > timeout:
                    raise LocalError(f"{process.name} took more than {timeout:.0f} s.\n{process.log_tail()}")
                progress()
                time.sleep(POLL_SECONDS)
        code = process.exit_code()
        if code:
            raise LocalError(f"{process.name} {describe(code)}.\n{process.log_tail()}")
        self._report(f"  {process.name:<10} done ({time.monotonic() - began:.1f} s)")

    def run(self) -> None:
        """Watch the children until SIGINT or SIGTERM."""
        while not self._stopping:
            for child in self._children:
                self._supervise(child)
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop all children, the last one first; those that are named alike but for a number together."""
        last_first = [child.process for child in reversed(self._children)]
        for _, alike in groupby(last_first, key=lambda process: process.name.rstrip("-0123456789")):
            together = list(alike)
            for process in together:
                process.ask_to_stop()
            deadline = time.monotonic() + STOP_SECONDS
            for process in together:
                if not process.wait_stopped(max(0.1, deadline - time.monotonic())):
                    self._report(f"{process.name} had not ended after {STOP_SECONDS:.0f} s and was killed")
        self._children.clear()

    def _supervise(self, child: _Child) -> None:
        now = time.monotonic()
        code = child.process.exit_code()
        if code is None:
            if now - child.started > STEADY_SECONDS:
                child.delay = FIRST_DELAY
        elif child.due is None:
            self._postpone(child, describe(code))
        elif now >= child.due:
            self._start_again(child)

    def _start_again(self, child: _Child) -> None:
        child.process.sweep()
        try:
            child.process.launch()
        except (LocalError, OSError) as error:
            self._postpone(child, f"could not be started: {error}")
        else:
            child.started, child.due = time.monotonic(), None

    def _postpone(self, child: _Child, why: str) -> None:
        process = child.process
        self._report(f"{process.name} {why}; starting it again in {child.delay:.1f} s (its log: {process.log_file})")
        child.due = time.monotonic() + child.delay
        child.delay = min(child.delay * 2, LONGEST_DELAY)

    def _progress(self, name: str) -> Callable[[], None]:
        began = reported = time.monotonic()

        def check() -> None:
            nonlocal reported
            if self._stopping:
                raise Stopped
            if time.monotonic() - reported > NEWS_SECONDS:
                reported = time.monotonic()
                self._report(f"  {name:<10} not ready yet ({reported - began:.0f} s)")

        return check

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Only a mark: the loops look at it. Raising here could tear a start or a stop in two.
        self._stopping = True
