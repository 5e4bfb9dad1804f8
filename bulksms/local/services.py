"""The service's processes: their command lines and readiness checks."""

import http.client
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, is_listening

API_PROCESSES = 2
QUEUE = "sends"
KEPT_FROM_THE_CONSOLE = ("DATABASE_URL", "REDIS_URL", "BROKER_URL", "SECRET_KEY", "METRICS_TOKEN")
"""Settings with secrets that only the service's other processes need."""


def migrate(env: Mapping[str, str], logs: Path, home: Path) -> Command:
    """Migrates the database and ends."""
    return Command("migrate", [_script("bulksms"), "migrate"], env, logs / "migrate.log", home)


def api(port: int, env: Mapping[str, str], logs: Path, home: Path, processes: int = API_PROCESSES) -> Command:
    """The HTTP API, ready when /readyz says so."""
    command = [sys.executable, "-m", "api.server", "--port", str(port), "--processes", str(processes)]
    return Command("api", command, env, logs / "api.log", home, lambda: _is_ready(port))


def smsc(port: int, env: Mapping[str, str], logs: Path, home: Path) -> Command:
    """A simulated SMSC, ready when it accepts connections."""
    command = [_script("bulksms"), "smsc", "--port", str(port)]
    return Command("smsc", command, env, logs / "smsc.log", home, lambda: is_listening(port))


def worker(number: int, env: Mapping[str, str], logs: Path, home: Path) -> Command:
    """Worker process `number` (from 1), ready when that many connections wait for tasks."""
    name = f"worker-{number}"
    command = [_script("celery"), "--quiet", "-A", "worker.app", "worker", "-n", f"{name}@%h", "--pool", "threads"]
    command += ["--without-gossip", "--without-mingle", "--loglevel", "INFO", "-Q", QUEUE]
    return Command(
        name, command, env, logs / f"{name}.log", home, lambda: _waiting_connections(env["BROKER_URL"]) >= number
    )


def webhooks(env: Mapping[str, str], logs: Path, home: Path) -> Command:
    """Posts events to webhooks."""
    return Command("webhooks", [sys.executable, "-m", "worker.webhooks"], env, logs / "webhooks.log", home)


def smpp(port: int, env: Mapping[str, str], logs: Path, home: Path) -> Command:
    """The SMPP server for customers, ready when it accepts connections."""
    command = [sys.executable, "-m", "api.smpp", "--port", str(port)]
    return Command("smpp", command, env, logs / "smpp.log", home, lambda: is_listening(port))


def console(port: int, api_port: int, env: Mapping[str, str], logs: Path, home: Path) -> Command:
    """The web console, ready when it says so. It knows the API's address, and none of the servers behind it."""
    mine = {name: value for name, value in env.items() if name not in KEPT_FROM_THE_CONSOLE}
    mine |= {"API_URL": f"http://{LOOPBACK}:{api_port}"}
    command = [sys.executable, "-m", "console", "--port", str(port)]
    return Command("console", command, mine, logs / "console.log", home, lambda: _is_ready(port, "/healthz"))


def _script(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def _is_ready(port: int, path: str = "/readyz") -> bool:
    # Not urllib: it would use a proxy from the environment.
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _waiting_connections(broker_url: str) -> int:
    """Number of connections to the broker that are blocked waiting for a task."""
    try:
        with Redis.from_url(broker_url, socket_connect_timeout=1, socket_timeout=2) as client:
            return sum(peer["cmd"] == "brpop" for peer in client.client_list())
    except RedisError:
        return 0


def environment(values: Mapping[str, str]) -> dict[str, str]:
    """The environment for child processes: this process's, plus the service's settings."""
    return {**os.environ, **values, "PYTHONUNBUFFERED": "1"}
