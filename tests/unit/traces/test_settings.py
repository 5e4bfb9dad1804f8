"""When traces are on, and that nothing of OpenTelemetry is there while they are off."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
ON = {ENDPOINT: "http://127.0.0.1:4318"}
NEEDED = {
    "DATABASE_URL": "postgresql://bulksms@127.0.0.1:1/x",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "x" * 32,
    "CARRIER": "simulator",
    "PYTHONPATH": str(Path.cwd()),
}
START = "from shared.observability.traces import start_traces, tracer; start_traces('x'); "
TELL = "import sys; print(*(name for name in sys.modules if 'opentelemetry' in name or 'otlp' in name))"


def run(code: str, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run Python code with the settings, and none of this process's for traces."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.run(
        [sys.executable, "-c", code], env=inherited | NEEDED | env, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("env", [ON, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://h/v1/traces"}])
def test_an_endpoint_switches_them_on(env: dict[str, str]) -> None:
    assert "opentelemetry.sdk.trace" in run(START + TELL, env).stdout.split()


OFF = [{}, {ENDPOINT: ""}, {"OTEL_TRACES_SAMPLER": "always_on"}, {**ON, "OTEL_SDK_DISABLED": "true"}]
"""Settings that leave them off, each added to those before."""


def test_otherwise_nothing_of_them_is_imported() -> None:
    processes = "import os, api.server.asgi, worker.app, worker.webhooks.__main__\n"
    ended = run(f"{processes}for settings in {OFF}: os.environ.update(settings); {START}{TELL}", {})
    assert (ended.returncode, ended.stdout.split()) == (0, []), ended.stderr


def test_settings_that_cannot_work_are_refused() -> None:
    ended = run(START, {**ON, "OTEL_BSP_MAX_QUEUE_SIZE": "-1"})
    assert ended.returncode == 1 and "SettingsError: OpenTelemetry refuses an OTEL_ variable" in ended.stderr


WITHOUT = "import runpy, sys; sys.argv = ['x', *sys.argv[1:]]; sys.modules['opentelemetry.sdk'] = None; "


@pytest.mark.parametrize(
    "code",
    [
        f"{WITHOUT} runpy.run_module('api.server', run_name='__main__')",
        f"{WITHOUT} runpy.run_module('worker.webhooks', run_name='__main__')",
        f"{WITHOUT} import worker.app; from celery.concurrency.thread import TaskPool; "
        "worker.app.start(type('Worker', (), {'pool_cls': TaskPool}))",
    ],
    ids=["api", "webhooks", "worker"],
)
def test_no_process_starts_without_the_packages(code: str) -> None:
    ended = run(code, ON)
    assert ended.returncode == 1, ended.stderr
    assert "pip install '/path/to/bulksms[traces]'" in ended.stderr
