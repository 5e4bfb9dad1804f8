"""A real PgBouncer before a Postgres of the tests, from the machine's own package."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

from bulksms.local.errors import LocalError
from bulksms.local.os_user import unprivileged
from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.server import Server

PATH = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"
"""Debian has it where only root looks."""


class PgBouncer(Server):
    """Start and stop one. `settings` are those of its section `[pgbouncer]`; it takes any database of the server."""

    port_taken = "cannot bind"
    start_seconds = 20.0

    def __init__(self, folder: Path, server_url: str, **settings: object) -> None:
        super().__init__("pgbouncer", folder / "pgbouncer.log")
        self._folder = folder
        self._server = make_url(server_url)
        self._settings = settings

    def launch(self) -> None:
        binary = shutil.which("pgbouncer", path=PATH)
        if binary is None:
            raise LocalError("PgBouncer is missing (Debian, Ubuntu: apt-get install pgbouncer).")
        self._port = self._port or free_port()
        users, configuration = self._folder / "users.txt", self._folder / "pgbouncer.ini"
        users.write_text(f'"{self._server.username}" "{self._server.password}"\n')
        settings = {
            "listen_addr": LOOPBACK,
            "listen_port": self._port,
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": users,
            **self._settings,
        }
        lines = (f"{name} = {value}\n" for name, value in settings.items())
        configuration.write_text(
            f"[databases]\n* = host={LOOPBACK} port={self._server.port}\n[pgbouncer]\n{''.join(lines)}"
        )
        os_user = unprivileged(self._folder)  # it refuses root, as Postgres does
        os_user.own(self._folder)
        env = {"PATH": PATH, "LC_ALL": "C"}
        self._spawn([*os_user.prefix, binary, str(configuration)], env, Path("/"), (), os_user.uid, os_user.gid)

    def ready(self) -> bool:
        try:
            psycopg.connect(self.url.replace("+psycopg", "", 1), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    @property
    def url(self) -> str:
        """As `server_url`, through the pooler. Not for logs."""
        return self._server.set(host=LOOPBACK, port=self._port).render_as_string(hide_password=False)


@contextmanager
def pgbouncer(server_url: str, pool_mode: str, **settings: object) -> Iterator[PgBouncer]:
    """One that runs, with as many sessions as tests need."""
    folder = Path(tempfile.mkdtemp(prefix="bulksms-pgbouncer-"))
    folder.chmod(0o755)
    try:
        with PgBouncer(folder, server_url, pool_mode=pool_mode, **{"default_pool_size": 60, **settings}) as pooler:
            pooler.start()
            yield pooler
    finally:
        shutil.rmtree(folder, ignore_errors=True)
