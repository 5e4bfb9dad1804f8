"""A pytest plugin for projects that send through this service: `pytest_plugins = ["bulksms_client.testing"]`.

    def test_my_code(bulksms):
        my_code.send(bulksms.base_url, bulksms.api_key, bulksms.api_secret, phone="254711000000")
        assert [message["phone"] for message in bulksms.sent()] == ["254711000000"]

The service runs in a separate process, with the Python named by BULKSMS_PYTHON or by pytest's setting `bulksms_python`,
or else with this one. This module imports only the standard library and pytest: a project's environment
needs neither the service nor its dependencies. Where the service is installed, it is also the module `bulksms.testing`.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = "bulksms.testing_server"
STOP_SECONDS = 30


class Server:
    """The process of the service. It stops when its standard input closes, even if this process is killed."""

    def __init__(self, python: str, named_by: str) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        command = [python, "-I", "-m", SERVER]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True
            )
        except OSError as error:
            self._log.close()
            raise pytest.UsageError(f"{named_by}, {python}, cannot be run: {error.strerror}.") from None
        self.base_url = str(self._read()["base_url"])

    def call(self, command: str, **arguments: Any) -> Any:
        """Run one command in the service's process and return its result. Raises RuntimeError with its error."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
        self._process.stdin.flush()
        return self._read()

    def stop(self) -> None:
        """Stop the service and delete its database."""
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._log.close()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait(STOP_SECONDS)
            self._log.seek(0)
            log = self._log.read().decode(errors="replace")[-4000:]
            raise RuntimeError(
                "The test service has ended. It needs an environment with `pip install '/path/to/bulksms[testing]'`; if"
                f" that is not this one, set BULKSMS_PYTHON to its Python.\n{log}"
            )
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["result"]


class Service:
    """The service as one account sees it: 1,000 credits, the approved sender ID ACME and an API key."""

    def __init__(self, server: Server) -> None:
        account = server.call("create_account")
        self._server = server
        self._account_id = int(account["account_id"])
        self.base_url = server.base_url
        """Without a path: `http://127.0.0.1:PORT`."""
        self.sender_id = str(account["sender_id"])
        self.api_key = str(account["api_key"])
        self.api_secret = str(account["api_secret"])
        self.token = str(account["token"])
        """A bearer token of the key, for the test's own requests."""

    def sent(self) -> list[dict[str, Any]]:
        """The account's submitted messages, oldest first, each as returned by GET /messages/{message_id}."""
        return list(self._server.call("sent", account_id=self._account_id, token=self.token))

    def deliver_receipts(self) -> int:
        """Deliver the receipts of all sent messages now. Returns their number."""
        return int(self._server.call("deliver_receipts"))

    def fail(self, phone: str, error: str = "absent_subscriber") -> None:
        """Make receipts for a phone (international, digits only) report `undelivered` with `error` from now on."""
        self._server.call("fail", phone=phone, error=error)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for a service that is installed in another environment."""
    parser.addini("bulksms_python", "Python of the environment that bulksms[testing] is installed in", default="")


def python_of(config: pytest.Config) -> tuple[str, str]:
    """The Python that runs the service, and what names it."""
    named = {
        "BULKSMS_PYTHON": os.environ.get("BULKSMS_PYTHON"),
        "The setting bulksms_python": str(config.getini("bulksms_python")),
    }
    for named_by, path in named.items():
        if path:
            return str(config.rootpath / Path(path).expanduser()), named_by
    return sys.executable, "sys.executable"


@pytest.fixture(scope="session")
def bulksms_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The running service, started once for all tests."""
    server = Server(*python_of(pytestconfig))
    yield server
    server.stop()


@pytest.fixture
def bulksms(bulksms_server: Server) -> Iterator[Service]:
    """The service, with a new account for each test; failing phones are reset after it."""
    yield Service(bulksms_server)
    bulksms_server.call("reset")
