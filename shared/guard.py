"""Recognises a database that went back in time, such as one restored from an older backup, and holds all sending.

What such a database believes unsent may have been sent after the backup was made. So while workers run, the
installation's mark rises each second, on disk, and is then noted outside the database: in Redis, and in a file where
GUARD_FILE names one. A database whose mark is behind one of these notes is older than it once was; nothing is sent
from it until an operator has looked (`bulksms guard`).

Nothing is sent between a restore and the first look either: a look notes the incarnation of the database that it has
seen, and from another one no message may be claimed. Unnoticed is only a restore of a backup that is less than a
second older than the last send, or one with the notes lost too.
"""

import contextlib
import json
import logging
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple, cast
from uuid import UUID

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Connection, Engine, text

from shared.database import STARTED, reading

log = logging.getLogger(__name__)

INCARNATION = f"(extract(epoch FROM {STARTED})::text || ' ' || pg_relation_filenode('installation'::regclass)::text)"
"""SQL: changes when the database is started, and when its tables are filled anew. (Another file comes with a table that
is dropped, truncated or rewritten.)"""

REST_SECONDS = 10.0
"""Redis is left alone for as long after a failure."""

WHICH = text("SELECT id FROM installation")
LOOK = text(
    f"""
    UPDATE installation
       SET mark = mark + CASE WHEN :outside > mark OR held_since IS NOT NULL THEN 0 ELSE 1 END,
           held_since = CASE WHEN :outside > mark THEN coalesce(held_since, clock_timestamp()) ELSE held_since END,
           behind = GREATEST(behind, :outside - mark), checked = {INCARNATION}, looked_at = clock_timestamp()
     WHERE id = :id
       AND (:outside > mark AND held_since IS NULL OR checked IS DISTINCT FROM {INCARNATION} OR looked_at IS NULL
            OR clock_timestamp() - looked_at NOT BETWEEN interval '0' AND interval '0.9 s')
    """
)
STATE = text("SELECT id, mark, held_since IS NOT NULL AS held, behind FROM installation")
RELEASE = text(
    f"""
    UPDATE installation
       SET mark = GREATEST(mark + behind, :outside) + 1, behind = 0, held_since = NULL, checked = {INCARNATION}
     WHERE held_since IS NOT NULL
    """
)
NOTE = """
if tonumber(redis.call('GET', KEYS[1]) or '-1') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
"""


class State(NamedTuple):
    """How far the installation has come, and whether its sending is held because it was `behind` by so much."""

    id: UUID
    mark: int
    held: bool
    behind: int


class Guard:
    """Looks at one installation, from one process. Each place for notes may be missing (None), or away at times."""

    def __init__(self, engine: Engine, redis: Redis | None, file: Path | None) -> None:
        self._engine = engine
        self._redis = redis
        self._file = file
        self._away_until = 0.0
        self._held = False

    def look(self) -> State:
        """Compare the database with the notes, raise the mark, and note it. Raises what the database raises."""
        with reading(self._engine) as connection:
            installation = connection.execute(WHICH).scalar_one()
        # The notes first: they are written after the mark, so a mark that is read later is never behind by itself.
        outside = self.outside(installation)
        with self._engine.begin() as connection:
            connection.execute(text("SET LOCAL synchronous_commit = on"))
            connection.execute(LOOK, {"id": installation, "outside": outside})
            state = state_of(connection)
        if state.held and not self._held:
            log.error("the database is older than it once was: nothing is sent. See `bulksms guard show`")
        self._held = state.held
        if not state.held and state.mark > outside:
            self._note(state)
        return state

    def outside(self, installation: UUID) -> int:
        """The highest mark noted for the installation, 0 where there is none."""
        return max(self._in_redis(installation), self._marks().get(str(installation), 0))

    def _note(self, state: State) -> None:
        if self._file is not None:
            marks = {**self._marks(), str(state.id): state.mark}
            staged = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            try:
                staged.write_text(json.dumps(marks))
                staged.replace(self._file)
            except OSError as error:
                log.warning("%s cannot be written: %s", self._file, error.strerror)
        if self._redis is not None and time.monotonic() >= self._away_until:
            with self._resting():
                self._redis.register_script(NOTE)(keys=[_key(state.id)], args=[state.mark])

    def _in_redis(self, installation: UUID) -> int:
        if self._redis is not None and time.monotonic() >= self._away_until:
            with self._resting():
                return int(cast("bytes | None", self._redis.get(_key(installation))) or 0)
        return 0

    def _marks(self) -> dict[str, int]:
        if self._file is not None:
            with contextlib.suppress(OSError, ValueError):
                return cast(dict[str, int], json.loads(self._file.read_text()))
        return {}

    @contextlib.contextmanager
    def _resting(self) -> Generator[None]:
        try:
            yield
        except (RedisError, ValueError):
            self._away_until = time.monotonic() + REST_SECONDS


def state_of(connection: Connection) -> State:
    """The installation's state as the database has it."""
    return State(*connection.execute(STATE).one())


def release(connection: Connection, outside: int) -> bool:
    """Let messages be sent again; the mark continues beyond all that was noted. False when nothing was held."""
    return bool(connection.execute(RELEASE, {"outside": outside}).rowcount)


def _key(installation: UUID) -> str:
    return f"bulksms:mark:{installation}"
