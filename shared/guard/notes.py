"""Notes the installation's mark outside the database: in Redis and in a file."""

import contextlib
import errno
import json
import logging
import os
import socket
import time
from pathlib import Path
from typing import NamedTuple, cast
from uuid import UUID

from redis import Redis
from redis.exceptions import RedisError

from shared.observability.metrics import CONNECTION_FAILURES
from shared.settings import SettingsError

log = logging.getLogger(__name__)

RETRY_SECONDS = 10.0
"""For how long Redis is not tried after a failure."""

NOTE = """
if tonumber(redis.call('GET', KEYS[1]) or '-1') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
"""
FULL = (errno.ENOSPC, errno.EDQUOT)


class Note(NamedTuple):
    """What is noted in one place, or why that is not known."""

    mark: int | None
    """0: there is no note. None: it is not known."""
    problem: str = ""


class Notes:
    """Reads and writes the notes. Either place may be missing (None) or unavailable."""

    def __init__(self, redis: Redis | None, file: Path | None) -> None:
        self._redis = redis
        self._file = file
        self._away_until = 0.0

    def in_redis(self, installation: UUID) -> Note:
        """The note in Redis."""
        if self._redis is None:
            return Note(None, "not used")
        if time.monotonic() < self._away_until:
            return Note(None, "not reachable")
        try:
            return Note(int(cast("bytes | None", self._redis.get(_key(installation))) or 0))
        except (RedisError, ValueError) as error:
            self._pause(error)
            return Note(None, "not reachable" if isinstance(error, RedisError) else "not a number")

    def in_file(self, installation: UUID) -> Note:
        """The note in the file."""
        if self._file is None:
            return Note(None, "GUARD_FILE is not set")
        try:
            return Note(self._marks(self._file).get(str(installation), 0))
        except OSError as error:
            return Note(None, f"cannot be read: {error.strerror}")
        except ValueError:
            return Note(None, "cannot be read: it is not a JSON object")

    def require_writable(self) -> None:
        """Raise SettingsError if the file can never be written. A disk that is only full may become free again."""
        if self._file is None:
            return
        try:
            _replace(self._file, self._file.read_bytes() if self._file.exists() else b"{}")
        except OSError as error:
            if error.errno not in FULL:
                raise SettingsError(
                    f"GUARD_FILE={self._file} cannot be written: {error.strerror}. Name a file in a folder that workers"
                    " can write."
                ) from None
            log.warning("%s cannot be written: %s", self._file, error.strerror)

    def write(self, installation: UUID, mark: int) -> None:
        """Note the mark in both places, if they are available."""
        if self._file is not None and (self.in_file(installation).mark or 0) < mark:
            marks: dict[str, int] = {}
            with contextlib.suppress(OSError, ValueError):
                marks = self._marks(self._file)
            try:
                _replace(self._file, json.dumps({**marks, str(installation): mark}).encode())
            except OSError as error:
                log.warning("%s cannot be written: %s", self._file, error.strerror)
        if self._redis is not None and time.monotonic() >= self._away_until:
            try:
                self._redis.register_script(NOTE)(keys=[_key(installation)], args=[mark])
            except RedisError as error:
                self._pause(error)

    @staticmethod
    def _marks(file: Path) -> dict[str, int]:
        """The marks of all installations. Raises OSError, and ValueError for a file that has none."""
        marks = json.loads(file.read_text())
        if not isinstance(marks, dict):
            raise ValueError
        return {installation: mark for installation, mark in marks.items() if isinstance(mark, int)}

    def _pause(self, error: RedisError | ValueError) -> None:
        if isinstance(error, RedisError):
            CONNECTION_FAILURES.labels("redis").inc()
        self._away_until = time.monotonic() + RETRY_SECONDS


def _replace(path: Path, content: bytes) -> None:
    """Put a file of this content in place, on disk."""
    # Containers that share the file have their own process ids, and the same ones.
    staged = path.with_name(f"{path.name}.{socket.gethostname()}.{os.getpid()}")
    try:
        with staged.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # an empty file after a power cut would look as if it was lost
        staged.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            staged.unlink()
        raise


def _key(installation: UUID) -> str:
    return f"bulksms:mark:{installation}"
