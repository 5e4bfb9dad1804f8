"""A primary Valkey, its replica, and three Sentinels that promote the replica when the primary is gone."""

import os
import shutil
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.process import parent_death_signal
from bulksms.local.redis import RedisServer, _binary
from bulksms.local.server import Server
from tests.harness.house import wait_until

MASTER_NAME = "bulksms"
SENTINELS, QUORUM = 3, 2
DOWN_MILLISECONDS = 1_000


class Replica(RedisServer):
    """A replica of another server, with its password."""

    def __init__(self, folder: Path, primary: RedisServer) -> None:
        super().__init__(folder)
        folder.mkdir(parents=True)
        shutil.copy(primary._password_file, folder)
        self._primary = primary

    def _configuration(self) -> str:
        of = f"replicaof {LOOPBACK} {self._primary.port}\nmasterauth {password_of(self._primary)}\n"
        return super()._configuration() + of


class SentinelServer(Server):
    """One Sentinel."""

    port_taken = "Could not create server TCP"

    def __init__(self, folder: Path, primary: RedisServer) -> None:
        super().__init__("sentinel", folder / "sentinel.log")
        self._folder, self._primary = folder, primary

    def launch(self) -> None:
        self._port = self._port or free_port()
        self._folder.mkdir(parents=True, exist_ok=True)
        configuration = self._folder / "sentinel.conf"
        lines = (
            f"bind {LOOPBACK}",
            f"port {self._port}",
            f"sentinel monitor {MASTER_NAME} {LOOPBACK} {self._primary.port} {QUORUM}",
            f"sentinel auth-pass {MASTER_NAME} {password_of(self._primary)}",
            f"sentinel down-after-milliseconds {MASTER_NAME} {DOWN_MILLISECONDS}",
            f"sentinel failover-timeout {MASTER_NAME} 10000",
        )
        configuration.write_text("\n".join(lines) + "\n")
        command = [*parent_death_signal(self.stop_signal), _binary(), str(configuration), "--sentinel"]
        self._spawn(command, {"PATH": os.defpath, "LC_ALL": "C"}, self._folder)

    def ready(self) -> bool:
        try:
            with Redis(LOOPBACK, self.port, socket_timeout=1) as client:
                seen = client.execute_command("SENTINEL MASTER", MASTER_NAME)
                return bool(seen["num-other-sentinels"] == SENTINELS - 1 and seen["num-slaves"] == 1)
        except RedisError:
            return False


class Watched:
    """The servers, and the address by which clients find the primary."""

    def __init__(self, folder: Path) -> None:
        self.primary = RedisServer(folder / "primary")
        self.primary.start()
        self.replica = Replica(folder / "replica", self.primary)
        self.sentinels = [SentinelServer(folder / f"sentinel-{number}", self.primary) for number in range(SENTINELS)]
        try:
            self.replica.start()
            for sentinel in self.sentinels:
                sentinel.launch()
            wait_until(lambda: all(sentinel.ready() for sentinel in self.sentinels), 60, "the Sentinels")
        except BaseException:
            self.stop()
            raise
        hosts = ",".join(f"{LOOPBACK}:{sentinel.port}" for sentinel in self.sentinels)
        self.url = f"sentinel://:{password_of(self.primary)}@{hosts}/0?master_name={MASTER_NAME}"

    def fail_over(self) -> None:
        """Kill the primary, and wait until the replica is promoted. Sentinels that were stopped do nothing for 30 s."""
        self.primary.kill()

        def promoted() -> bool:
            with Redis.from_url(self.replica.url, socket_timeout=1) as client:
                try:
                    return bool(client.info("replication")["role"] == "master")
                except RedisError:  # with the promotion, Sentinel disconnects the replica's clients
                    return False

        wait_until(promoted, 120, "the promotion")

    def stop(self) -> None:
        """Stop all of them."""
        for server in (*self.sentinels, self.replica, self.primary):
            server.stop()


def password_of(server: RedisServer) -> str:
    """The password of a server."""
    return server._password_file.read_text().strip()
