"""Real servers for tests."""

from pathlib import Path

from bulksms.local.postgres import Postgres
from bulksms.local.redis import RedisServer

# Shared memory in files below the data folder: what a killed server leaves there goes with the folder.
SMALL = {"shared_buffers": "64MB", "max_wal_size": "512MB", "dynamic_shared_memory_type": "mmap"}
UNSAFE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


def make_postgres(folder: Path, *, durable: bool) -> Postgres:
    """A Postgres that is not started yet. `durable=False` is fast and may lose everything in a crash of the machine."""
    return Postgres(folder / "postgres", settings=SMALL if durable else {**SMALL, **UNSAFE})


def make_redis(folder: Path) -> RedisServer:
    """A Redis that is not started yet."""
    return RedisServer(folder / "redis")
