"""Notes the installation's mark outside the database: in Redis and in a file."""

import contextlib
import json
import logging
import os
import socket
import time
from collections.abc import Generator
from pathlib import Path
from typing import cast
from uuid import UUID

from redis import Redis
from redis.exceptions import RedisError

from shared.observability.metrics import CONNECTION_FAILURES

log = logging.getLogger(__name__)

RETRY_SECONDS = 10.0
"""For how long Redis is not tried after a failure."""

NOTE = """
if tonumber(redis.call('GET', KEYS[1]) or '-1') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
"""


class Notes:
    """Reads and writes the notes. Either place may be missing (None) or unavailable."""

    def __init__(self, redis: Redis | None, file: Path | None) -> None:
        self._redis = redis
        self._file = file
        self._away_until = 0.0

    def in_redis(self, installation: UUID) -> int:
        """The mark noted in Redis, or 0."""
        if self._redis is not None and time.monotonic() >= self._away_until:
            with self._pausing_on_failure():
                return int(cast("bytes | None", self._redis.get(_key(installation))) or 0)
        return 0

    def in_file(self, installation: UUID) -> int:
        """The mark noted in the file, or 0."""
        return self._marks().get(str(installation), 0)

    def write(self, installation: UUID, mark: int) -> None:
        """Note the mark in both places, if they are available."""
        if self._file is not None and self.in_file(installation) < mark:
            marks = {**self._marks(), str(installation): mark}
            # Containers that share the file have their own process ids, and the same ones.
            staged = self._file.with_name(f"{self._file.name}.{socket.gethostname()}.{os.getpid()}")
            try:
                with staged.open("w") as file:
                    json.dump(marks, file)
                    file.flush()
                    os.fsync(file.fileno())  # an empty file after a power cut would look as if it was lost
                staged.replace(self._file)
            except OSError as error:
                log.warning("%s cannot be written: %s", self._file, error.strerror)
        if self._redis is not None and time.monotonic() >= self._away_until:
            with self._pausing_on_failure():
                self._redis.register_script(NOTE)(keys=[_key(installation)], args=[mark])

    def _marks(self) -> dict[str, int]:
        if self._file is not None:
            with contextlib.suppress(OSError, ValueError):
                return cast(dict[str, int], json.loads(self._file.read_text()))
        return {}

    @contextlib.contextmanager
    def _pausing_on_failure(self) -> Generator[None]:
        try:
            yield
        except (RedisError, ValueError) as error:
            if isinstance(error, RedisError):
                CONNECTION_FAILURES.labels("redis").inc()
            self._away_until = time.monotonic() + RETRY_SECONDS


def _key(installation: UUID) -> str:
    return f"bulksms:mark:{installation}"
