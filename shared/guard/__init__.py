"""Detects a database that was restored, copied, or lost commits in a failover, and holds all sending.

Such a database may take sent messages for unsent ones. So for every incarnation of the database (a start, or tables
that were filled again), no message may be claimed before a worker has compared it with what is known outside of it:

    processes    what each has seen committed: its last claims, its last accepted sends, and the installation's mark
    claims       the last ones of each worker, beside the file that GUARD_FILE names
    notes        the mark, which rises each second while workers run, in Redis and in the file that GUARD_FILE names
    the row      of the installation: the transaction that wrote it last, which a dump does not preserve, the timeline,
                 which a promotion changes, and whether there were notes in a file

`verdict.py` draws the conclusion. A crash of the same server loses no durable commit, and holds nothing.
"""

from shared.guard.check import CHECK_SECONDS, Guard
from shared.guard.claims import Witness
from shared.guard.notes import Note, Notes
from shared.guard.state import INCARNATION, State, release, state_of

__all__ = ["CHECK_SECONDS", "INCARNATION", "Guard", "Note", "Notes", "State", "Witness", "release", "state_of"]
