"""Compares the database with what is known outside of it: every second, in every process."""

import logging
from pathlib import Path
from uuid import UUID

from redis import Redis
from sqlalchemy import Connection, Engine, text

from shared.db.connection import reading, transaction
from shared.guard.claims import Witness
from shared.guard.notes import Notes
from shared.guard.state import (
    CONFIRM,
    HOLD,
    PRESENT,
    RAISE,
    WAIT,
    State,
    evidence_of,
    state_of,
)
from shared.guard.verdict import Verdict, judge

log = logging.getLogger(__name__)

WAIT_FOR_DISK = text("SELECT set_config('synchronous_commit', :value, true)")
"""The commit need not be durable if only a process's lease has changed."""
CHECK_SECONDS = 1.0
PRESENT_SECONDS = 5
"""For how long a process counts as alive after its check; a worker's sweeper renews its lease."""


class Guard:
    """Checks one installation from one process: a `worker`, or another process, which can only object.

    Without `witness` the process has seen no commits but those of the mark. `worker` and `api` are ids of
    processes. Workers wait until each of them has compared a promoted database with what it had seen.
    """

    def __init__(
        self,
        engine: Engine,
        redis: Redis | None = None,
        file: Path | None = None,
        witness: Witness | None = None,
        worker: str | None = None,
        api: str | None = None,
    ) -> None:
        self.notes = Notes(redis, file)
        self._engine = engine
        self._witness = witness or Witness()
        self._worker = worker
        self._lease = f"worker:{worker}" if worker else f"api:{api}" if api else None
        """Name of the lease that says that this process is alive, and what it has compared."""
        self._incarnation = ""
        """The incarnation that this process has compared with what it had seen."""
        self._seen: tuple[UUID | None, int] = (None, 0)
        """The installation, and its highest mark that this process has seen committed."""
        self._reported = ""

    def check(self) -> State:
        """Compare; then raise and note the mark if nothing is wrong. Raises the database's errors."""
        with reading(self._engine) as connection:
            before = state_of(connection)
        new = before.incarnation != self._incarnation
        if self._worker is None and not new:
            self._remember(before)
            if self._lease is not None:
                with transaction(self._engine, durable=False) as connection:
                    self._send_heartbeat(connection, before)
            return before
        # The notes first: they are written after the mark, so a mark that is read later is never behind by itself.
        in_file = (self.notes.in_file(before.id).mark or 0) if self._worker else 0
        known = self._known(before.id, in_file)
        with self._engine.begin() as connection:
            state, verdict, wrote = self._compare(connection, before, new, known, bool(in_file))
            connection.execute(WAIT_FOR_DISK, {"value": "on" if wrote else "off"})
        self._log(state, verdict)
        if state.incarnation == before.incarnation:
            self._incarnation = state.incarnation
            if state.held:
                self._witness.forget()
            self._remember(state)
            # Workers that each have a file of their own note a mark that another one raised, too.
            if self._worker and state.confirmed and not state.held and state.mark > min(known, in_file):
                self.notes.write(state.id, state.mark)
        return state

    def _known(self, installation: UUID, in_file: int) -> int:
        """The installation's highest mark that is noted outside the database, or 0."""
        in_redis = (self.notes.in_redis(installation).mark or 0) if self._worker else 0
        return max(self._seen[1] if self._seen[0] == installation else 0, in_redis, in_file)

    def _compare(
        self, connection: Connection, before: State, new: bool, known: int, file: bool
    ) -> tuple[State, Verdict | None, bool]:
        """The state after the comparison, the verdict if there was one, and whether the installation's row changed."""
        lost = self._witness.lost(connection, before) if new else 0
        if new and self._lease is not None and not lost:
            self._send_heartbeat(connection, before)
        values = {"id": before.id, "known": known, "file": file}
        if self._worker and not lost and connection.execute(RAISE, values).rowcount:
            return state_of(connection), None, True
        state = state_of(connection)
        if state.held:
            return state, None, bool(known - state.mark > state.behind and self._hold(connection, state, known, ""))
        if state.confirmed and not lost and known <= state.mark:
            return state, None, False
        evidence = evidence_of(connection, state.id, known, lost)
        if evidence is None:
            return state_of(connection), None, False
        verdict = judge(evidence)
        if verdict.outcome == "hold":
            self._hold(connection, state, known, verdict.reason)
        elif self._worker is None:
            return state, None, False
        elif verdict.outcome == "confirm":
            connection.execute(CONFIRM, values)
        else:
            connection.execute(WAIT, {"id": state.id, "witnessed": evidence.is_witnessed})
        return state_of(connection), verdict, True

    def _send_heartbeat(self, connection: Connection, compared: State) -> None:
        """Renew this process's lease, with the incarnation that it has compared."""
        values = {"name": self._lease, "seconds": PRESENT_SECONDS, "incarnation": compared.incarnation}
        connection.execute(PRESENT, values)

    @staticmethod
    def _hold(connection: Connection, state: State, known: int, reason: str) -> bool:
        return bool(connection.execute(HOLD, {"id": state.id, "known": known, "reason": reason}).rowcount)

    def _remember(self, state: State) -> None:
        """Remember what has been committed, unless the database may be the wrong one."""
        if not state.confirmed or state.held:
            return
        if self._seen[0] != state.id or state.mark > self._seen[1]:
            self._seen = (state.id, state.mark)
            self._witness.risen(state.id, state.mark)

    def _log(self, state: State, verdict: Verdict | None) -> None:
        """Log once that sending is held, and once that it is not any more."""
        if state.held:
            message = f"{state.reason}: nothing is sent. See `bulksms guard show`"
        elif verdict is not None and verdict.outcome == "wait":
            message = "the database was promoted or restored: nothing is sent until its witnesses have looked at it"
        else:
            message = ""
        if message != self._reported:
            log.log(logging.ERROR if message else logging.INFO, "%s", message or "the database has lost nothing")
            self._reported = message
