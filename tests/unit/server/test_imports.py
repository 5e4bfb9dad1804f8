"""What the API's processes load: it delays their start and stays in their memory."""

import subprocess
import sys

RARE = {"aiohttp", "opentelemetry"}
SHOW = "import sys, threading, api.server.__main__; print(threading.active_count(), *sys.modules)"


def test_the_supervisor_loads_the_application_and_starts_no_thread() -> None:
    """Its processes are forked from it."""
    shown = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True).stdout
    threads, *loaded = shown.split()
    assert threads == "1"
    assert {"api.endpoint", "shared.oidc.provider"} <= set(loaded)
    assert not RARE & set(loaded)
