"""A cluster of RabbitMQ nodes on loopback, with an epmd of its own."""

import os
import shutil
import subprocess
from pathlib import Path

from kombu import Connection

from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.process import Process, parent_death_signal
from tests.harness.house import wait_until

BINARIES = Path("/usr/lib/rabbitmq/bin")
COOKIE = "ofthetests"


class Epmd(Process):
    """Erlang's port mapper."""

    def __init__(self, folder: Path) -> None:
        super().__init__("epmd", folder / "epmd.log")
        self.port = free_port()
        self._folder = folder

    def launch(self) -> None:
        command = ["epmd", "-address", LOOPBACK, "-port", str(self.port)]
        self._spawn([*parent_death_signal(self.stop_signal), *command], {"PATH": os.defpath}, self._folder)

    def ready(self) -> bool:
        return self.exit_code() is None


class Node(Process):
    """One node."""

    def __init__(self, folder: Path, number: int, of: int, epmd: Epmd) -> None:
        self.name_of_node = f"tests{number}@localhost"
        super().__init__(self.name_of_node, folder / f"node-{number}.log")
        self.port = free_port()
        home = folder / f"node-{number}"
        home.mkdir()
        cookie = home / ".erlang.cookie"
        cookie.write_text(COOKIE)
        cookie.chmod(0o400)
        lines = [
            f"listeners.tcp.1 = {LOOPBACK}:{self.port}",
            "cluster_formation.peer_discovery_backend = classic_config",
            *(f"cluster_formation.classic_config.nodes.{each + 1} = tests{each}@localhost" for each in range(of)),
        ]
        (home / "rabbitmq.conf").write_text("\n".join(lines) + "\n")
        self._home = home
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ERL_EPMD_PORT": str(epmd.port),
            "RABBITMQ_NODENAME": self.name_of_node,
            "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
            "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
            "RABBITMQ_LOG_BASE": str(home / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    @property
    def url(self) -> str:
        """Its address."""
        return f"amqp://guest:guest@{LOOPBACK}:{self.port}//"

    def launch(self) -> None:
        command = [*parent_death_signal(self.stop_signal), str(BINARIES / "rabbitmq-server")]
        self._spawn(command, self.environment, self._home)

    def ready(self) -> bool:
        try:
            with Connection(self.url, connect_timeout=1) as connection:
                connection.ensure_connection(max_retries=1, timeout=2)
        except Exception:  # whatever the transport raises
            return False
        return True

    def control(self, *arguments: str) -> str:
        """Run rabbitmqctl on it."""
        command = [str(BINARIES / "rabbitmqctl"), "--node", self.name_of_node, "--quiet", *arguments]
        ended = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=True)
        return ended.stdout


class Cluster:
    """Several nodes that know each other."""

    def __init__(self, folder: Path, count: int) -> None:
        assert shutil.which("epmd") and BINARIES.is_dir(), "RabbitMQ is not installed"
        self.epmd = Epmd(folder)
        self.epmd.launch()
        self.nodes = [Node(folder, number, count, self.epmd) for number in range(count)]
        try:
            for node in self.nodes:
                node.launch()
            for node in self.nodes:
                node.wait_ready(90)
            wait_until(lambda: self._together(), 60, "the cluster")
        except BaseException:
            self.stop()
            raise

    def _together(self) -> bool:
        status = self.nodes[0].control("cluster_status", "--formatter", "json")
        return all(status.count(node.name_of_node) > 1 for node in self.nodes)

    @property
    def url(self) -> str:
        """The addresses of all nodes, as BROKER_URL takes them."""
        return ";".join(node.url for node in self.nodes)

    def stop(self) -> None:
        """Kill the nodes: nothing of them is kept."""
        for node in self.nodes:
            node.kill()
        self.epmd.kill()
