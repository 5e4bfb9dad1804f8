"""The log of the console's process."""

import http.client
import json
from pathlib import Path

import pytest

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from tests.harness.servers import START_SECONDS

pytestmark = pytest.mark.slow

KEY = "a-secret-key-of-the-consoles-tests"
TOKEN = "smsv_" + "a1" * 20


def test_log_level_applies_to_it(tmp_path: Path) -> None:
    """A console without an API, at which an invitation is opened: each line of its log is a JSON object."""
    port = free_port()
    env = services.environment({"CONSOLE_SECRET_KEY": KEY, "PYTHONPATH": str(Path.cwd()), "LOG_LEVEL": "warning"})
    with services.console(port, free_port(), env, tmp_path, Path.cwd()) as process:
        process.launch()
        process.wait_ready(START_SECONDS)
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
        connection.request("GET", f"/invitations/{TOKEN}")
        assert connection.getresponse().status == 503
        connection.close()
    written = (tmp_path / "console.log").read_text()
    assert {json.loads(line)["level"] for line in written.splitlines()} == {"warning"}, "that it serves is an info"
    assert TOKEN not in written
