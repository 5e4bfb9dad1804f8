"""Installs a lock file's packages with pip and says how far it is: `python bulksms/local/install.py FILE`.

It is run as a script, before anything is installed, and so uses the standard library alone.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

NEWS_SECONDS = 5.0
"""Between two lines about how far it is."""
REQUIREMENT = re.compile(r"^[A-Za-z0-9][\w.-]*==", re.MULTILINE)
FETCHED = re.compile(r"^(?:Collecting|Processing|Requirement already satisfied:|Ignoring) ")


class Progress:
    """Counts what pip says that it does, and tells a person."""

    def __init__(self, packages: int) -> None:
        self._packages = packages
        self._fetched = 0
        self._began = time.monotonic()
        self._over = threading.Event()

    def follow(self, lines: Iterable[str]) -> list[str]:
        """Read what pip says, to its end. Returns all of it."""
        threading.Thread(target=self._tell, daemon=True).start()
        output = []
        for line in lines:
            output.append(line)
            self._fetched += bool(FETCHED.match(line))
        self._over.set()
        return output

    def now(self) -> str:
        """How far it is."""
        seconds = time.monotonic() - self._began
        if self._fetched < self._packages:
            return f"  {self._fetched} of {self._packages} packages fetched ({seconds:.0f} s)"
        return f"  installing {self._packages} packages ({seconds:.0f} s)"

    def _tell(self) -> None:
        while not self._over.wait(NEWS_SECONDS):
            print(self.now(), file=sys.stderr, flush=True)


def install(lock: Path) -> int:
    """Install what the file names. Returns pip's exit code; what pip said is printed where it failed."""
    packages = len(REQUIREMENT.findall(lock.read_text()))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    command = [*pip, "--require-hashes", "--no-deps", "--requirement", str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as ran:
        assert ran.stdout is not None
        output = Progress(packages).follow(ran.stdout)
    if ran.returncode:
        print("".join(output), end="", file=sys.stderr)
    return ran.returncode


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1])))
