"""What one process has seen committed lately.

Commits are lost from the end: where the last that a thread has seen is there, all before it are. And before the mark
rose they are older than the mark, which is compared too. So a few ids in memory say it exactly, and cost nothing.
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
    """The last claim and the last accepted send of each thread. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen = deque([_Seen()], maxlen=3)
        """The newest last; a new one begins whenever the mark is found to have risen."""

    def claimed(self, batch: UUID, epoch: int) -> None:
        """A claim was committed, of this batch and perhaps others."""
        with self._lock:
            self._seen[-1].claims[threading.get_ident()] = (batch, epoch)

    def accepted(self, send: UUID) -> None:
        """A send was committed, and perhaps others with it."""
        with self._lock:
            self._seen[-1].sends[threading.get_ident()] = send

    def risen(self) -> None:
        """The mark was found to be higher than before. What was seen two such times ago is older than the mark."""
        with self._lock:
            self._seen.append(_Seen())

    def forget(self) -> None:
        """What the database does not have has been told."""
        with self._lock:
            self._seen.clear()
            self._seen.append(_Seen())

    def lost(self, connection: Connection) -> int:
        """How many of the commits the database does not have."""
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
    """By thread."""

    def __init__(self) -> None:
        self.claims: dict[int, tuple[UUID, int]] = {}
        self.sends: dict[int, UUID] = {}
