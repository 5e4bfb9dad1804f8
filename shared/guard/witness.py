"""Remembers what one process has recently seen committed.

Commits are lost from the end: if the last one that a thread has seen is there, all earlier ones are. Those before the
mark rose are covered by the mark, which is compared too. So a few ids in memory are exact, and cost nothing.
"""

import threading
from collections import deque
from uuid import UUID

from sqlalchemy import Connection, text

LOST_CLAIMS = text(
    """
    SELECT count(*) FROM unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[])) AS w (id, epoch)
      LEFT JOIN batch b ON b.id = w.id
     WHERE b.id IS NULL OR b.epoch < w.epoch
    """
)
LOST_SENDS = text(
    """
    SELECT count(*) FROM unnest(CAST(:id AS uuid[])) AS w (id) WHERE NOT EXISTS (SELECT FROM send s WHERE s.id = w.id)
    """
)


class Witness:
    """The last claim and the last accepted send of each thread. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen = deque([_Seen()], maxlen=3)
        """The newest is last; another begins whenever the mark has risen."""

    def claimed(self, batch: UUID, epoch: int) -> None:
        """Note the commit of a claim of this batch and perhaps others."""
        with self._lock:
            self._seen[-1].claims[threading.get_ident()] = (batch, epoch)

    def accepted(self, send: UUID) -> None:
        """Note the commit of a send and perhaps others."""
        with self._lock:
            self._seen[-1].sends[threading.get_ident()] = send

    def risen(self) -> None:
        """Note that the mark has risen. What was seen two such notes ago is older than the mark."""
        with self._lock:
            self._seen.append(_Seen())

    def forget(self) -> None:
        """Forget the commits that the database lacks: they are reported."""
        with self._lock:
            self._seen.clear()
            self._seen.append(_Seen())

    def lost(self, connection: Connection) -> int:
        """The number of commits that the database lacks."""
        with self._lock:
            claims = [claim for seen in self._seen for claim in seen.claims.values()]
            sends = [send for seen in self._seen for send in seen.sends.values()]
        lost = 0
        if claims:
            ids, epochs = [batch for batch, _ in claims], [epoch for _, epoch in claims]
            lost += connection.execute(LOST_CLAIMS, {"id": ids, "epoch": epochs}).scalar_one()
        if sends:
            lost += connection.execute(LOST_SENDS, {"id": sends}).scalar_one()
        return lost


class _Seen:
    """The commits, by thread."""

    def __init__(self) -> None:
        self.claims: dict[int, tuple[UUID, int]] = {}
        self.sends: dict[int, UUID] = {}
