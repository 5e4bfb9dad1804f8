"""The SMSC that messages are measured at: bench/smsc.c where there is a C compiler, else `bulksms smsc`."""

import http.client
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port

SOURCE = Path(__file__).with_name("smsc.c")


class Carrier:
    """A simulated SMSC in a process of its own, and its counts."""

    def __init__(self, folder: Path, env: Mapping[str, str], *, receipts: bool, round_trip: float = 0.0) -> None:
        self.port, self._stats_port = free_port(), free_port()
        program = _compiled(folder)
        self.kind = "bench/smsc.c" if program else "bulksms smsc"
        command = [str(program)] if program else [str(Path(sys.executable).parent / "bulksms"), "smsc"]
        command += ["--port", str(self.port), "--stats-port", str(self._stats_port)]
        command += ["--receipts" if receipts else "--no-receipts", "--round-trip", str(round_trip)]
        self.process = Command("smsc", command, env, folder / "smsc.log", Path.cwd(), self._answers)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process.launch()
        self.process.wait_ready(30)

    def counts(self) -> dict[str, Any]:
        """Its counts since the start; `duplicates` are destinations that were submitted before."""
        connection = http.client.HTTPConnection(LOOPBACK, self._stats_port, timeout=10)
        try:
            connection.request("GET", "/")
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
            return answer
        finally:
            connection.close()

    def _answers(self) -> bool:
        try:
            return bool(self.counts())
        except (OSError, http.client.HTTPException):
            return False


def _compiled(folder: Path) -> Path | None:
    """The C program, compiled into the folder; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    program = folder / "smsc"
    subprocess.run([compiler, "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program
