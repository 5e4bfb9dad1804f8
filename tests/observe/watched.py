"""The running service, what watches it, and its carrier."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import free_port, is_listening
from tests.harness.house import House, house, wait_until
from tests.harness.smsc import smpp_carrier
from tests.observe.prometheus import Prometheus, prometheus, shortened

TOKEN = "monitoring-token"


class Watched(NamedTuple):
    """The service, what watches it, and its carrier."""

    service: House
    prometheus: Prometheus
    smsc: Command
    smsc_port: int
    ports: list[int]

    @contextlib.contextmanager
    def with_hours_of(self, seconds: float, *ports: int) -> Iterator[Prometheus]:
        """Another Prometheus, for alerts about ages: an hour has so many seconds. It scrapes further ports, too."""
        folder = self.service.folder / f"prometheus-{free_port()}"
        folder.mkdir()
        with prometheus(folder, TOKEN, [*self.ports, *ports], shortened(seconds)) as watching:
            yield watching

    @contextlib.contextmanager
    def with_smsc(self, *options: str) -> Iterator[None]:
        """The carrier's SMSC behaves in another way."""
        self.smsc.stop()
        other = smsc(self.service.folder, self.smsc_port, *options)
        other.launch()
        try:
            other.wait_ready(30)
            yield
        finally:
            other.stop()
            self.smsc.launch()


def smsc(folder: Path, port: int, *options: str) -> Command:
    """A simulated SMSC with these options."""
    command = [str(Path(sys.executable).parent / "bulksms"), "smsc", "--port", str(port), *options]
    return Command(
        "smsc", command, services.environment({}), folder / "smsc.log", Path.cwd(), lambda: is_listening(port)
    )


@contextlib.contextmanager
def watch(folder: Path, rules: str, interval: int = 1) -> Iterator[Watched]:
    """A service with a carrier over SMPP, webhooks and an account, and a Prometheus with these rules."""
    smsc_port, metrics_port = free_port(), free_port()
    (folder / "carriers.toml").write_text(smpp_carrier("smsc", smsc_port, response_timeout=3))
    carrier = smsc(folder, smsc_port)
    carrier.launch()
    carrier.wait_ready(30)
    settings = {
        "CARRIERS_FILE": str(folder / "carriers.toml"),
        "LEASE_SECONDS": "8",
        "WEBHOOK_LOOPBACK": "1",
        "METRICS_TOKEN": TOKEN,
        "METRICS_PORT": str(metrics_port),
        "PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics"),
        "GUARD_FILE": str(folder / "mark.json"),
    }
    try:
        with house(folder, api_processes=2, **settings) as service:
            ports = [service.port, metrics_port]
            with prometheus(folder, TOKEN, ports, rules, interval) as watching:
                service.start_webhooks()
                service.new_account()
                wait_until(lambda: watching.value("bulksms_webhook_processes") == 1, 60, "the webhook process")
                service.execute("UPDATE account SET authentication = true")
                yield Watched(service, watching, carrier, smsc_port, ports)
    finally:
        carrier.stop()


def send(service: House, phones: Sequence[str], category: str = "transactional") -> str:
    """Send to a list. Returns the send's id."""
    response = service.post(
        "/sms/send-bulk", sender_id="ACME", phones=[*phones], message="Hi", category=category, allow_duplicates=True
    )
    return str(response["send_id"])


def send_one(service: House, phone: str, category: str = "transactional") -> None:
    """Send to one phone."""
    service.post("/sms/send", sender_id="ACME", phone=phone, message="Hi", category=category)


def phones(count: int, first: int = 254711000000) -> list[str]:
    """So many phones."""
    return [str(first + number) for number in range(count)]


def run(service: House, *command: str) -> None:
    """A command of an operator; it must succeed."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "bulksms"), *command], env=service.env, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
