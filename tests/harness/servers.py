"""Real servers for tests."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from bulksms.local import ports
from bulksms.local.postgres import Postgres
from bulksms.local.redis import RedisServer
from shared.db.connection import make_engine
from shared.db.migrate import migrate

# Shared memory in files below the data folder: what a killed server leaves there goes with the folder.
SMALL = {"shared_buffers": "64MB", "max_wal_size": "512MB", "dynamic_shared_memory_type": "mmap"}
RUNNING_POSTGRES = "TESTS_POSTGRES_URL"
"""The environment variable that names a migrated server to use, in place of one of each test process."""
START_SECONDS = 180.0
"""For any process. A second is enough, but the machine may stand still."""
UNSAFE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30
"""Where a server's files are in memory, and the free bytes there from which on one of tests may have its own there."""
FOR_MANY_DATABASES = {"autovacuum": "off"}
"""For a server with a database for each test module, where autovacuum would be at work all the time. While it writes
statistics in one database, events wait in all of them, and new statistics change plans."""


@contextmanager
def fast_folder() -> Iterator[Path]:
    """A folder, in memory if that has room: a database is hundreds of files, and a run makes hundreds of databases.

    Each test process has one, and takes away what a killed one with the same ports has left there.
    """
    has_room = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    folder = (MEMORY if has_room else Path(tempfile.gettempdir())) / f"bulksms-tests-{ports.LOWEST}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def make_postgres(folder: Path, *, durable: bool, more: Mapping[str, str] | None = None) -> Postgres:
    """A Postgres that is not started yet. `durable=False` is fast and may lose everything in a crash of the machine.

    `more` are further settings.
    """
    made = Postgres(folder / "postgres", settings={**SMALL, **({} if durable else UNSAFE), **(more or {})})
    made.start_seconds = START_SECONDS
    return made


def make_migrated_postgres(folder: Path, *, durable: bool, more: Mapping[str, str] | None = None) -> Postgres:
    """The same with the schema in its database `bulksms`: a copy of a server that this process has set up once."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(_original(), folder, dirs_exist_ok=True)
    return make_postgres(folder, durable=durable, more=more)


@cache
def _original() -> Path:
    """The folder of a Postgres that was migrated and shut down, with its password; it goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="bulksms-tests-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with make_postgres(folder, durable=False) as server:
        engine = make_engine(server.start(), pool=1)
        migrate(engine)
        engine.dispose()
    for leftover in ("postgres.lock", "postgres.log"):
        (folder / leftover).unlink(missing_ok=True)
    return folder


class RunningPostgres(Postgres):
    """A server of `make_migrated_postgres` that another process has started and stops, for many short test runs."""

    def __init__(self, url: str) -> None:
        super().__init__(Path(tempfile.gettempdir()) / "of-another-process")
        self._running_url = url

    @property
    def url(self) -> str:
        """SQLAlchemy URL with the role's password. Not for logs."""
        return self._running_url


def make_redis(folder: Path) -> RedisServer:
    """A Redis that is not started yet."""
    made = RedisServer(folder / "redis")
    made.start_seconds = START_SECONDS
    return made
