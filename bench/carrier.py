"""The SMSC that receives the messages: bench/smsc.c if there is a C compiler, else `bulksms smsc`."""

import http.client
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click import ClickException

from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port

SOURCE = Path(__file__).with_name("smsc.c")


class Carrier:
    """A simulated SMSC in a separate process, and its counts."""

    def __init__(
        self, folder: Path, env: Mapping[str, str], *, receipts: bool, round_trip: float = 0.0, full: str | None = None
    ) -> None:
        self.port, self._stats_port = free_port(), free_port()
        program = _compiled(folder)
        self.kind = "bench/smsc.c" if program else "bulksms smsc"
        command = [str(program)] if program else [str(Path(sys.executable).parent / "bulksms"), "smsc"]
        command += ["--port", str(self.port), "--stats-port", str(self._stats_port)]
        command += ["--receipts" if receipts else "--no-receipts", "--round-trip", str(round_trip)]
        if full is not None:
            if program is None:
                raise ClickException("Only bench/smsc.c has full phones: install a C compiler.")
            command += ["--full", full]
        self.process = Command("smsc", command, env, folder / "smsc.log", Path.cwd(), self._is_ready)

    def start(self) -> None:
        """Start the SMSC, and wait until it is ready."""
        self.process.launch()
        self.process.wait_ready(30)

    def counts(self) -> dict[str, Any]:
        """The SMSC's counts since its start; `duplicates` is the number of submits to a phone that had one before."""
        connection = http.client.HTTPConnection(LOOPBACK, self._stats_port, timeout=10)
        try:
            connection.request("GET", "/")
            counts: dict[str, Any] = json.loads(connection.getresponse().read())
            return counts
        finally:
            connection.close()

    def _is_ready(self) -> bool:
        try:
            return bool(self.counts())
        except (OSError, http.client.HTTPException):
            return False


def _compiled(folder: Path) -> Path | None:
    """The C program, compiled into the folder; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    program = folder / "smsc"
    subprocess.run([compiler, "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program
