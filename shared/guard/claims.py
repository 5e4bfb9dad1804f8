"""Notes the last claim of each thread beside GUARD_FILE, before any of its messages is submitted.

The mark rises once a second. If all processes die and the files of the database are set back by less than that, only
these notes tell that the database lacks a claim, and would send its messages again.
"""

import contextlib
import os
import socket
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from shared.guard.state import State

LINE = "{0!s} {1:020d} {2!s} {3:010d}\n"
LENGTH = len(LINE.format(UUID(int=0), 0, UUID(int=0), 0))
RECENT_MARKS = 10
"""Claims from before that many marks are in the database, if their mark is."""
KEPT_MARKS = 3600
"""After that many marks, the file of a process that has ended is deleted."""
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


class Claim(NamedTuple):
    """A claim that one process has seen committed."""

    installation: UUID
    mark: int
    """The installation's mark when the claim was made."""
    batch: UUID
    epoch: int


class Claims:
    """The claims of this process, in a file of its own beside `notes`, and those of all processes. Thread-safe.

    A file has one line for each thread, which a single write replaces. It is not flushed to disk: after a crash of the
    machine the database has been restarted, and what may have been sent is in doubt.
    """

    def __init__(self, notes: Path) -> None:
        self._folder, self._prefix = notes.parent, f"{notes.name}.claims."
        # Containers that share the folder have their own process ids, and the same ones.
        self._own = self._folder / f"{self._prefix}{socket.gethostname()}.{os.getpid()}"
        self._lines: dict[int, int] = {}
        self._lock = threading.Lock()

    def write(self, claim: Claim) -> None:
        """Note the last claim of the calling thread. That the folder cannot be written is logged by Notes."""
        with self._lock:  # or two threads that begin together would get the same line
            line = self._lines.setdefault(threading.get_ident(), len(self._lines))
        with contextlib.suppress(OSError):
            file = os.open(self._own, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.pwrite(file, LINE.format(*claim).encode(), line * LENGTH)
            finally:
                os.close(file)

    def recent(self, installation: UUID, mark: int) -> list[Claim]:
        """The claims of all processes that a database with this mark could lack."""
        return [
            claim
            for _, claims in self._files()
            for claim in claims
            if claim.installation == installation and claim.mark >= mark - RECENT_MARKS
        ]

    def forget(self) -> None:
        """Delete all files: the loss they show has been reported."""
        for path, _ in self._files():
            path.unlink(missing_ok=True)

    def forget_old(self, installation: UUID, mark: int) -> None:
        """Delete the files of processes that ended long ago."""
        for path, claims in self._files():
            if all(claim.installation == installation and claim.mark < mark - KEPT_MARKS for claim in claims):
                path.unlink(missing_ok=True)

    def _files(self) -> Iterator[tuple[Path, list[Claim]]]:
        for path in self._folder.glob(f"{self._prefix}*"):
            with contextlib.suppress(OSError):
                data = path.read_bytes()
                yield path, list(_parsed(data))


def _parsed(data: bytes) -> Iterator[Claim]:
    """The claims of a file. Lines that were never written, of a file that was deleted meanwhile, are zeros."""
    for start in range(0, len(data), LENGTH):
        with contextlib.suppress(ValueError):
            installation, mark, batch, epoch = data[start : start + LENGTH].decode().split()
            yield Claim(UUID(installation), int(mark), UUID(batch), int(epoch))


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
