"""What the API's processes load: it delays their start and stays in their memory."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "expected", "unexpected"),
    [
        ("api.server.__main__", "api.server.supervisor", {"flask", "api.server.process", "api.endpoint"}),
        ("api.app", "shared.oidc.provider", {"aiohttp", "opentelemetry"}),
    ],
    ids=["the supervisor", "the application"],
)
def test_a_process_does_not_load_what_it_rarely_needs(module: str, expected: str, unexpected: set[str]) -> None:
    command = [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert expected in loaded
    assert not unexpected & loaded
