"""The log of the console's process."""

import http.client
import json
from pathlib import Path
from typing import Any

import pytest

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from tests.harness.servers import START_SECONDS

pytestmark = pytest.mark.slow

KEY = "a-secret-key-of-the-consoles-tests"
TOKEN = "smsv_" + "a1" * 20


def log_of_a_console(folder: Path, **settings: str) -> list[dict[str, Any]]:
    """Start a console without an API, open an invitation, and read what it has logged: each line is a JSON object."""
    port = free_port()
    env = services.environment({"CONSOLE_SECRET_KEY": KEY, "PYTHONPATH": str(Path.cwd()), **settings})
    process = services.console(port, free_port(), env, folder, Path.cwd())
    with process:
        process.launch()
        process.wait_ready(START_SECONDS)
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
        connection.request("GET", f"/invitations/{TOKEN}")
        assert connection.getresponse().status == 503
        connection.close()
    written = (folder / "console.log").read_text()
    assert TOKEN not in written
    return [json.loads(line) for line in written.splitlines()]


@pytest.mark.parametrize(("level", "levels"), [("warning", {"warning"}), ("ERROR", set()), ("", {"info", "warning"})])
def test_log_level_applies_to_it(tmp_path: Path, level: str, levels: set[str]) -> None:
    assert {line["level"] for line in log_of_a_console(tmp_path, LOG_LEVEL=level)} == levels
