"""The service on several hosts: API, workers, Postgres, Redis, and the carrier, a simulated SMSC."""

import json
import sys
from collections import Counter
from http import HTTPStatus
from pathlib import Path

import psutil
from redis import Redis

from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, is_listening
from bulksms.local.postgres import Postgres
from shared.carriers.control import list_carriers
from shared.db.connection import make_engine
from tests.faults.ground import Ground
from tests.harness.fetch import fetch, status_of
from tests.harness.servers import SMALL
from tests.partitions.network import Network

HOSTS = ("api", "worker", "postgres", "redis", "carrier")
SECOND = "worker2"
"""A host with another worker."""
EVERYWHERE = "0.0.0.0"
SMSC_PORT, STATS_PORT, METRICS_PORT = 2775, 2776, 9464
METRICS_TOKEN = "monitoring-token-of-the-hosts"
WINDOW = 100
"""Messages that one worker may have unanswered."""
CARRIERS = """[carrier.main]
kind = "smpp"
host = "{host}"
port = 2775
system_id = "us"
password = "right"
window = 100
rate = 500
response_timeout = 4
connect_timeout = 2
enquire_link = 2
"""
FAILURES = 'bulksms_connection_failures_total{{server="{server}"}}'
ADMITTED = "host all all 198.18.0.0/15 scram-sha-256\n"


class Hosts(Ground):
    """A ground whose parts are each on a host of their own."""

    def __init__(self, folder: Path, network: Network) -> None:
        self.network = network
        file = folder / "carriers.toml"
        file.write_text(CARRIERS.format(host=network.address("carrier")))
        super().__init__(folder, CARRIERS_FILE=str(file), LEASE_SECONDS="8", METRICS_TOKEN=METRICS_TOKEN)
        self._move_postgres()
        self._move_redis()
        self.host = network.address("api")
        self.more["worker"] = {"METRICS_PORT": str(METRICS_PORT), "METRICS_HOST": EVERYWHERE}
        self.journal = folder / "submits.tsv"
        self.carrier = self._start_carrier()

    def start_api(self) -> None:
        with self.network.inside("api"):
            super().start_api()

    def launch_worker(self, host: str = "worker") -> None:
        with self.network.inside(host):
            super().launch_worker()

    def stop(self) -> None:
        try:
            super().stop()
        finally:
            self.carrier.stop()

    def leaks(self, *canaries: str) -> list[str]:
        with self.network.inside("redis"):
            return super().leaks(*canaries)

    def at_carrier(self) -> Counter[int]:
        """How often the SMSC took a message for each phone, by its own journal."""
        fields = [line.split("\t") for line in self.journal.read_text().splitlines(keepends=True) if line[-1] == "\n"]
        return Counter(int(field[1]) for field in fields if field[6])

    def receipts_waiting(self) -> int:
        """Receipts that the SMSC has to deliver."""
        counts = fetch(STATS_PORT, "/", host=self.network.address("carrier")).text
        return int(json.loads(counts)["receipts_waiting"])

    def is_ready(self) -> bool:
        """Whether the API says that it can accept sends."""
        return status_of(self.port, "/readyz", host=self.host, timeout=5) == HTTPStatus.OK

    def bound(self) -> int:
        """Workers that are bound, as `bulksms doctor` and the metrics say."""
        with self.engine.connect() as connection:
            return sum(each["ready"] for each in list_carriers(connection) if each["carrier"] == "main")

    def failures(self, host: str, server: str) -> float:
        """Failures of the host's processes to reach a server, by its metrics."""
        port = self.port if host == "api" else METRICS_PORT
        headers = {"Authorization": f"Bearer {METRICS_TOKEN}"}
        text = fetch(port, "/metrics", headers=headers, host=self.network.address(host)).text
        lines = [line for line in text.splitlines() if line.startswith(FAILURES.format(server=server))]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def processes(self) -> set[tuple[int, float]]:
        """Which processes the API and the workers are, those of the API one by one."""
        heads = [psutil.Process(command.pid) for command in self.commands()]
        everyone = [*heads, *(child for each in heads for child in each.children(recursive=True))]
        return {(each.pid, each.create_time()) for each in everyone}

    def _launch_api(self) -> Command:
        command = [sys.executable, "-m", "api.server", "--host", EVERYWHERE, "--port", str(self.port)]
        self.api = Command("api", command, self.env, self.folder / "api.log", Path.cwd(), self.is_ready)
        self.api.launch()
        return self.api

    def _set_up(self, host: str) -> None:
        redis = self._at("redis", self.redis.url)
        self.env.update(
            DATABASE_URL=self._at("postgres", self.postgres.url),
            REDIS_URL=redis,
            BROKER_URL=redis,
            PROMETHEUS_MULTIPROC_DIR=str(self.folder / f"metrics-{host}"),
            **self.more[host],
        )

    def _at(self, host: str, url: str) -> str:
        return url_at(self.network.address(host), url)

    def _move_postgres(self) -> None:
        self.engine.dispose()
        self.postgres.stop()
        self.postgres = start_postgres(self.network, self.postgres.data_dir)
        self.engine = make_engine(self._at("postgres", self.postgres.url))

    def _move_redis(self) -> None:
        self.redis.stop()
        with self.network.inside("redis"), Redis.from_url(self.redis.start()) as client:
            client.config_set("bind", EVERYWHERE)

    def _start_carrier(self) -> Command:
        command = [str(Path(sys.executable).parent / "bulksms"), "smsc", "--host", EVERYWHERE, "--port", str(SMSC_PORT)]
        command += ["--system-id", "us", "--password", "right", "--receipt-delay", "0.2"]
        command += ["--journal", str(self.journal), "--stats-port", str(STATS_PORT)]
        log = self.folder / "smsc.log"
        smsc = Command("smsc", command, self.env, log, Path.cwd(), lambda: is_listening(SMSC_PORT))
        with self.network.inside("carrier"):
            smsc.launch()
            smsc.wait_ready(30)
        return smsc


def start_postgres(network: Network, data_dir: Path) -> Postgres:
    """A Postgres on its host, for clients on the others."""
    with (data_dir / "pg_hba.conf").open("a") as file:
        file.write(ADMITTED)
    postgres = Postgres(data_dir, {**SMALL, "listen_addresses": EVERYWHERE})
    with network.inside("postgres"):
        postgres.start()
    return postgres


def url_at(address: str, url: str) -> str:
    """The URL of a server as other hosts reach it."""
    return url.replace(f"@{LOOPBACK}:", f"@{address}:")
