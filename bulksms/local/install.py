"""Installs a lock file's packages with pip and reports progress: `python bulksms/local/install.py FILE`.

Runs as a script before anything is installed, so it uses only the standard library.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

REPORT_SECONDS = 5.0
"""Interval between progress lines."""
REQUIREMENT = re.compile(r"^[A-Za-z0-9][\w.-]*==", re.MULTILINE)
FETCHED = re.compile(r"^(?:Collecting|Processing|Requirement already satisfied:|Ignoring) ")


class Progress:
    """Counts pip's steps and prints the progress to standard error."""

    def __init__(self, packages: int) -> None:
        self._packages = packages
        self._fetched = 0
        self._started_at = time.monotonic()
        self._finished = threading.Event()

    def follow(self, lines: Iterable[str]) -> list[str]:
        """Read pip's output to its end and return it."""
        threading.Thread(target=self._report, daemon=True).start()
        output = []
        for line in lines:
            output.append(line)
            self._fetched += bool(FETCHED.match(line))
        self._finished.set()
        return output

    def now(self) -> str:
        """The progress in one line."""
        seconds = time.monotonic() - self._started_at
        if self._fetched < self._packages:
            return f"  {self._fetched} of {self._packages} packages fetched ({seconds:.0f} s)"
        return f"  installing {self._packages} packages ({seconds:.0f} s)"

    def _report(self) -> None:
        while not self._finished.wait(REPORT_SECONDS):
            print(self.now(), file=sys.stderr, flush=True)


def install(lock: Path) -> int:
    """Install the packages of the lock file. Returns pip's exit code; prints pip's output if it failed."""
    packages = len(REQUIREMENT.findall(lock.read_text()))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    command = [*pip, "--require-hashes", "--no-deps", "--requirement", str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        output = Progress(packages).follow(process.stdout)
    if process.returncode:
        print("".join(output), end="", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1])))
