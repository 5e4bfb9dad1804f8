"""Keeps child processes running in the foreground until SIGINT or SIGTERM."""

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

MIN_DELAY, MAX_DELAY = 0.5, 10.0
"""Seconds before a child is restarted; doubled each time that it ends."""
STEADY_SECONDS = 30.0
"""A child that has run this long has recovered: its delay is reset."""
STOP_SECONDS = 30.0
POLL_SECONDS = 0.1
REPORT_SECONDS = 5.0


class Stopped(Exception):
    """SIGINT or SIGTERM was received during a start."""


def to_stderr(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr, flush=True)


@dataclass(slots=True)
class _Child:
    process: Process
    started: float = field(default_factory=time.monotonic)
    delay: float = MIN_DELAY
    due: float | None = None
    """Time of its restart; None while it runs."""


class Supervisor:
    """Starts children in order, restarts those that end, and stops all in reverse order.

    >>> with Supervisor() as supervisor:
    ...     supervisor.start(api)
    ...     supervisor.run()

    Use it in the main thread: signals arrive there, and children are signaled when the thread that started them ends.
    """

    def __init__(self, report: Callable[[str], None] = to_stderr) -> None:
        self._report = report
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

        Raises LocalError if it ends or is not ready after `timeout` seconds, Stopped on a signal.
        """
        began = time.monotonic()
        self._children.append(_Child(process))
        process.launch()
        process.wait_ready(timeout, self._progress(process.name))
        self._report(f"  {process.name:<10} ready ({time.monotonic() - began:.1f} s)")

    def finish(self, process: Process, timeout: float = 600.0) -> None:
        """Run a process to its end.

        Raises LocalError if it fails or takes more than `timeout` seconds, Stopped on a signal.
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
        """Stop all children, last one first; children whose names differ only in a number stop together."""
        last_first = [child.process for child in reversed(self._children)]
        for _, siblings in groupby(last_first, key=lambda process: process.name.rstrip("-0123456789")):
            group = list(siblings)
            for process in group:
                process.ask_to_stop()
            deadline = time.monotonic() + STOP_SECONDS
            for process in group:
                if not process.wait_stopped(max(0.1, deadline - time.monotonic())):
                    self._report(f"{process.name} did not end within {STOP_SECONDS:.0f} s and was killed")
        self._children.clear()

    def _supervise(self, child: _Child) -> None:
        now = time.monotonic()
        code = child.process.exit_code()
        if code is None:
            if now - child.started > STEADY_SECONDS:
                child.delay = MIN_DELAY
        elif child.due is None:
            self._schedule_restart(child, describe(code))
        elif now >= child.due:
            self._restart(child)

    def _restart(self, child: _Child) -> None:
        try:
            child.process.launch()
        except (LocalError, OSError) as error:
            self._schedule_restart(child, f"could not be started: {error}")
        else:
            child.started, child.due = time.monotonic(), None

    def _schedule_restart(self, child: _Child, why: str) -> None:
        process = child.process
        self._report(f"{process.name} {why}; restarting it in {child.delay:.1f} s (log: {process.log_file})")
        child.due = time.monotonic() + child.delay
        child.delay = min(child.delay * 2, MAX_DELAY)

    def _progress(self, name: str) -> Callable[[], None]:
        began = reported = time.monotonic()

        def check() -> None:
            nonlocal reported
            if self._stopping:
                raise Stopped
            if time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                self._report(f"  {name:<10} not ready yet ({reported - began:.0f} s)")

        return check

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Only set a flag that the loops check: raising here could interrupt a start or a stop halfway.
        self._stopping = True
