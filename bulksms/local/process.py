"""A child process with its own log that can be started, watched, stopped, and killed with its descendants."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import psutil

from bulksms.local.errors import LocalError
from bulksms.local.files import open_log, tail

POLL_SECONDS = 0.05
STOP_POLL_SECONDS = 0.005


def parent_death_signal(number: signal.Signals) -> list[str]:
    """A command prefix that makes the kernel signal the process when the thread that started it ends.

    Works even if the parent is killed with SIGKILL. Empty if `setpriv` (from util-linux) is missing.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, f"--pdeathsig={number.name.removeprefix('SIG')}", "--"] if setpriv else []


class Process:
    """Base class of child processes. A subclass defines how to launch it and when it is ready.

    The thread that launches the child must live as long as the child: when it ends, the child is signaled.
    """

    stop_signal = signal.SIGTERM

    def __init__(self, name: str, log_file: Path) -> None:
        self.name = name
        self.log_file = log_file
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    def launch(self) -> None:
        """Start the process without waiting for it. Raises LocalError or OSError if it cannot be started."""
        raise NotImplementedError

    def ready(self) -> bool:
        """Whether it is up and working."""
        raise NotImplementedError

    @property
    def pid(self) -> int:
        """Process id. Raises LocalError if it was never started."""
        if self._child is None:
            raise LocalError(f"{self.name} is not running")
        return self._child.pid

    def exit_code(self) -> int | None:
        """Exit code; None while it runs, minus the signal's number if a signal ended it, 0 if it was never started.

        The first call after its end kills what it left behind in its process group. It does so before the child is
        reaped: afterwards the kernel may give the number of the group to another one.
        """
        if self._child is None:
            return 0
        if self._child.returncode is None:
            if not _has_ended(self._child.pid):
                return None
            self._kill_group()
        return self._child.wait()

    def wait_ready(self, timeout: float, on_poll: Callable[[], None] = lambda: None) -> None:
        """Wait until it is ready, calling `on_poll` between checks.

        Raises LocalError, with the end of its log, if it ends or takes more than `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while not self.ready():
            code = self.exit_code()
            if code is not None:
                raise LocalError(f"{self.name} {describe(code)} before it was ready.\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise LocalError(f"{self.name} was not ready after {timeout:.0f} s.\n{self.log_tail()}")
            on_poll()
            time.sleep(POLL_SECONDS)

    def ask_to_stop(self, number: signal.Signals | None = None) -> None:
        """Send its stop signal or another one, without waiting. Does nothing if it is not running."""
        if self.exit_code() is None:
            os.kill(self.pid, number or self.stop_signal)

    def stop(self, *, timeout: float = 30.0) -> bool:
        """Send its stop signal and kill it after `timeout` seconds. Does nothing if it is not running.

        Returns whether it ended without being killed.
        """
        self.ask_to_stop()
        return self.wait_stopped(timeout)

    def wait_stopped(self, timeout: float) -> bool:
        """Wait for it to end; kill it after `timeout` seconds. Returns whether it ended without being killed."""
        deadline = time.monotonic() + timeout
        while self.exit_code() is None:
            if time.monotonic() > deadline:
                self.kill()
                return False
            time.sleep(STOP_POLL_SECONDS)
        return True

    def kill(self) -> None:
        """Send SIGKILL to it and all its descendants, and wait until they have ended."""
        if self._child is None or self.exit_code() is not None:
            return
        try:
            descendants = psutil.Process(self._child.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            descendants = []
        # The parent first: a server that sees a child die would start to recover.
        os.kill(self._child.pid, signal.SIGKILL)
        for process in descendants:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self._kill_group()
        self._child.wait()
        _wait_ended(descendants, timeout=10)

    def log_tail(self) -> str:
        """The end of its log since it was launched, with the log's path."""
        return f"The end of {self.log_file}:\n{tail(self.log_file, self._log_start)}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _spawn(
        self,
        command: list[str],
        env: dict[str, str],
        cwd: Path,
        pass_fds: tuple[int, ...] = (),
        user: int | None = None,
        group: int | None = None,
    ) -> None:
        log, self._log_start = open_log(self.log_file)
        try:
            self._child = subprocess.Popen(
                command,
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A new session: Ctrl-C in the terminal must reach only the supervisor.
                start_new_session=True,
                pass_fds=pass_fds,
                user=user,
                group=group,
                extra_groups=None if user is None else [],
            )
        finally:
            os.close(log)


def _has_ended(pid: int) -> bool:
    """Whether a child has ended. It is not reaped, so its process id stays its own."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # another thread has waited for it
        return True


def _wait_ended(descendants: list[psutil.Process], timeout: float) -> None:
    # Not psutil.wait_procs: it would wait for a zombie that its new parent never reaps.
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline and any(map(_runs, descendants)):
        time.sleep(0.005)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def describe(code: int) -> str:
    """Describe an exit code."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
