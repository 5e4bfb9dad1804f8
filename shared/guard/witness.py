"""Remembers what one process has recently seen committed.

Commits are lost from the end: if the last one that a thread has seen is there, all earlier ones are. Those before the
mark rose are covered by the mark, which is compared too. So a few ids in memory are exact, and cost nothing.
"""

import threading
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection, text

from shared.guard.claims import Claim, Claims
from shared.guard.state import State

LOST_CLAIMS = text(
    """
    SELECT count(*) FROM unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[])) AS w (id, epoch)
      LEFT JOIN batch b ON b.id = w.id
     WHERE b.id IS NULL OR b.epoch < w.epoch
    """
)
"""How many of the claims that were seen committed are gone, in one snapshot."""
LOST_SENDS = text(
    """
    SELECT count(*) FROM unnest(CAST(:id AS uuid[])) AS w (id) WHERE NOT EXISTS (SELECT FROM send s WHERE s.id = w.id)
    """
)
"""Likewise, of the accepted sends."""


class Witness:
    """The last claim and the last accepted send of each thread. Thread-safe."""

    def __init__(self, notes: Path | None = None) -> None:
        """`notes` is the file that GUARD_FILE names: claims are noted beside it, where they outlive the process."""
        self._lock = threading.Lock()
        self._file = None if notes is None else Claims(notes)
        self._mark: tuple[UUID, int] | None = None
        """The installation and its mark."""
        self._seen = deque([_Seen()], maxlen=3)
        """The newest is last; another begins whenever the mark has risen."""

    def claimed(self, batch: UUID, epoch: int) -> None:
        """Note the commit of a claim of this batch and perhaps others."""
        with self._lock:
            self._seen[-1].claims[threading.get_ident()] = (batch, epoch)
            mark = self._mark
        if self._file is not None and mark is not None:
            self._file.write(Claim(*mark, batch, epoch))

    def accepted(self, send: UUID) -> None:
        """Note the commit of a send and perhaps others."""
        with self._lock:
            self._seen[-1].sends[threading.get_ident()] = send

    def risen(self, installation: UUID, mark: int) -> None:
        """Note that the mark has risen. What was seen two such notes ago is older than the mark."""
        with self._lock:
            first, self._mark = self._mark is None, (installation, mark)
            self._seen.append(_Seen())
        if first and self._file is not None:
            self._file.forget_old(installation, mark)

    def forget(self) -> None:
        """Forget the commits that the database lacks: they are reported."""
        with self._lock:
            self._seen.clear()
            self._seen.append(_Seen())
        if self._file is not None:
            self._file.forget()

    def lost(self, connection: Connection, state: State) -> int:
        """The number of commits that the database lacks: of this process, and of those that noted theirs in the same
        folder."""
        with self._lock:
            claims = {claim for seen in self._seen for claim in seen.claims.values()}
            sends = [send for seen in self._seen for send in seen.sends.values()]
        if self._file is not None:
            claims |= {(claim.batch, claim.epoch) for claim in self._file.recent(state.id, state.mark)}
        lost = _lost_claims(connection, claims) if claims else 0
        if sends:
            lost += connection.execute(LOST_SENDS, {"id": sends}).scalar_one()
        return lost


def _lost_claims(connection: Connection, claims: Iterable[tuple[UUID, int]]) -> int:
    ids, epochs = zip(*claims, strict=True)
    lost: int = connection.execute(LOST_CLAIMS, {"id": list(ids), "epoch": list(epochs)}).scalar_one()
    return lost


class _Seen:
    """The commits, by thread."""

    def __init__(self) -> None:
        self.claims: dict[int, tuple[UUID, int]] = {}
        self.sends: dict[int, UUID] = {}
