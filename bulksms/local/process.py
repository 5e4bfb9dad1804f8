"""One child process: started with a log of its own, watched, stopped and killed with all that it started."""

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


def leash(number: signal.Signals) -> list[str]:
    """The beginning of a command whose process the kernel signals once the thread that started it has ended.

    It holds over a SIGKILL of the starter. Empty where `setpriv` is missing (it comes with util-linux).
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, f"--pdeathsig={number.name.removeprefix('SIG')}", "--"] if setpriv else []


class Process:
    """What every child has in common. A subclass says how it is launched and when it is ready.

    The thread that launches it must live as long as the child: its end pulls the leash.
    """

    stop_signal = signal.SIGTERM

    def __init__(self, name: str, log_file: Path) -> None:
        self.name = name
        self.log_file = log_file
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    def launch(self) -> None:
        """Start the process without waiting for it. Raises LocalError or OSError when it can not be started."""
        raise NotImplementedError

    def ready(self) -> bool:
        """Whether it does its work now."""
        raise NotImplementedError

    @property
    def pid(self) -> int:
        """Process id. Raises LocalError when it was never started."""
        if self._child is None:
            raise LocalError(f"{self.name} is not running")
        return self._child.pid

    def exit_code(self) -> int | None:
        """None while it runs; minus the signal's number when a signal ended it; 0 when it was never started."""
        return 0 if self._child is None else self._child.poll()

    def wait_ready(self, timeout: float, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait until it is ready, calling `meanwhile` between looks.

        Raises LocalError, with the end of its log, when it ends or takes more than `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while not self.ready():
            code = self.exit_code()
            if code is not None:
                raise LocalError(f"{self.name} {describe(code)} before it was ready.\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise LocalError(f"{self.name} was not ready after {timeout:.0f} s.\n{self.log_tail()}")
            meanwhile()
            time.sleep(POLL_SECONDS)

    def ask_to_stop(self, number: signal.Signals | None = None) -> None:
        """Ask it to end, by its own signal or another, without waiting. Does nothing when it does not run."""
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(number or self.stop_signal)

    def stop(self, *, timeout: float = 30.0) -> bool:
        """Ask it to end, and kill what is left of it after `timeout` seconds. Does nothing when it does not run.

        Returns whether it ended by itself.
        """
        self.ask_to_stop()
        return self.wait_stopped(timeout)

    def wait_stopped(self, timeout: float) -> bool:
        """Wait for its end, and kill what is left of it after `timeout` seconds. Returns whether it ended by itself."""
        if self._child is None:
            return True
        in_time = True
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            in_time = False
            self.kill()
        self.sweep()
        return in_time

    def kill(self) -> None:
        """SIGKILL to it and to everything that it started, without warning; returns when all have ended."""
        if self._child is None:
            return
        try:
            family = psutil.Process(self._child.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            family = []
        # The parent first: a server that sees only its child die would begin to mend itself.
        self._child.kill()
        for member in family:
            try:
                member.kill()
            except psutil.NoSuchProcess:
                continue
        self.sweep()
        self._child.wait()
        _wait_ended(family, timeout=10)

    def sweep(self) -> None:
        """Kill what an ended process has left behind in its group, before it is launched anew."""
        if self._child is None:
            return
        try:
            os.killpg(self._child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return

    def log_tail(self) -> str:
        """The end of what it logged since it was launched, headed by the log's path."""
        return f"The end of {self.log_file}:\n{tail(self.log_file, self._log_start)}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

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
                # A session of its own: Ctrl-C in the terminal must reach the supervisor alone.
                start_new_session=True,
                pass_fds=pass_fds,
                user=user,
                group=group,
                extra_groups=None if user is None else [],
            )
        finally:
            os.close(log)


def _wait_ended(family: list[psutil.Process], timeout: float) -> None:
    # Not psutil's own wait: an ended process whose new parent never collects it would be waited for in vain.
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline and any(map(_runs, family)):
        time.sleep(0.005)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def describe(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
