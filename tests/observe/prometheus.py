"""Debian's Prometheus, with the rules of deploy/observe; for most tests, with shorter times."""

import contextlib
import json
import re
import shutil
import subprocess
import urllib.parse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bulksms.local.ports import LOOPBACK, free_port
from tests.harness.fetch import fetch
from tests.harness.house import wait_until

RULES = Path("deploy/observe/rules.yml")
CONFIGURATION = """
global: {{scrape_interval: {interval}s, evaluation_interval: {interval}s}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: bulksms
    authorization: {{credentials: {token}}}
    static_configs: [{{targets: [{targets}]}}]
"""
WINDOW = re.compile(r"\[(\d+)([smhd])\]")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONG = 1800
"""Windows of so many seconds are long ones."""


class Prometheus:
    """A running Prometheus."""

    def __init__(self, port: int) -> None:
        self._port = port

    def query(self, query: str) -> list[dict[str, Any]]:
        """The result of an instant query."""
        found = fetch(self._port, f"/api/v1/query?{urllib.parse.urlencode({'query': query})}")
        result: list[dict[str, Any]] = json.loads(found.text)["data"]["result"]
        return result

    def value(self, query: str) -> float | None:
        """The value of a query with one result."""
        result = self.query(query)
        return float(result[0]["value"][1]) if result else None

    def firing(self) -> set[str]:
        """The names of the alerts that fire."""
        return {each["metric"]["alertname"] for each in self.query('ALERTS{alertstate="firing"}')}

    def wait_for(self, alert: str, seconds: float = 90) -> None:
        """Wait until an alert fires."""
        wait_until(lambda: alert in self.firing(), seconds, alert)

    def wait_for_end_of(self, alert: str, seconds: float = 90) -> None:
        """Wait until an alert no longer fires."""
        wait_until(lambda: alert not in self.firing(), seconds, f"the end of {alert}")


def shortened(hour: float = 3600) -> str:
    """The rules of deploy/observe with windows of 15 s, long ones of 20 s, and conditions that must hold for 5 s.

    Ages are compared with hours and days of other lengths: `hour` is how many seconds an hour has.
    """
    rules = re.sub(r"^(\s+)for: \w+$", r"\1for: 5s", RULES.read_text(), flags=re.MULTILINE)
    rules = re.sub(r"\* 3600\b", f"* {hour:g}", rules)
    rules = re.sub(r"\* 60\b", f"* {hour / 60:g}", rules)
    return WINDOW.sub(lambda match: "[20s]" if int(match[1]) * SECONDS[match[2]] >= LONG else "[15s]", rules)


@contextlib.contextmanager
def prometheus(folder: Path, token: str, ports: Sequence[int], rules: str, interval: int = 1) -> Iterator[Prometheus]:
    """A Prometheus that scrapes these ports and evaluates these rules every `interval` seconds."""
    program = shutil.which("prometheus")
    assert program, "install Debian's prometheus"
    targets = ", ".join(f'"{LOOPBACK}:{port}"' for port in ports)
    (folder / "prometheus.yml").write_text(CONFIGURATION.format(interval=interval, token=token, targets=targets))
    (folder / "rules.yml").write_text(rules)
    port = free_port()
    command = [program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'tsdb'}"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address={LOOPBACK}:{port}"], stderr=log, stdout=log)
        try:
            running = Prometheus(port)
            wait_until(lambda: _is_ready(running), 30, "Prometheus")
            yield running
        finally:
            process.terminate()
            process.wait(30)


def _is_ready(running: Prometheus) -> bool:
    try:
        return bool(running.query("bulksms_workers"))
    except (OSError, ValueError):  # it does not listen yet, or has no JSON
        return False
