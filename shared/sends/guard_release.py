"""Releases a database that the guard holds, and holds the sends that were open for review."""

from uuid import UUID

from sqlalchemy import Connection, select

from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Refused
from shared.db.tables.sends import send
from shared.guard import Notes, release, state_of
from shared.lifecycle import OPEN_SENDS
from shared.sends.holding import hold_for_review

SENDS_PER_STATEMENT = 5_000
REASON = (
    "The send was open when a database was released that had been restored, copied or had lost commits: its messages"
    " may have been sent before, unless it was accepted since."
)


def release_guard(
    connection: Connection, notes: Notes, *, send_open: bool, reason: str | None = None, by: Actor | None = None
) -> list[UUID]:
    """Let messages be sent again. Returns the open sends, which are held for review unless `send_open`.

    Raises Refused if nothing is held.
    """
    state = state_of(connection)
    noted = max(notes.in_redis(state.id).mark or 0, notes.in_file(state.id).mark or 0)
    if not release(connection, noted):
        raise Refused("Nothing is held: this database has not lost anything, as far as is known.")
    record(connection, by, "guard.released", after={"open_sends_go_on": send_open}, reason=reason)
    if send_open:
        return []
    still_open = select(send.c.id).where(send.c.completed_at.is_(None), send.c.state.in_(OPEN_SENDS))
    sends = list(connection.execute(still_open.order_by(send.c.id)).scalars())
    for begin in range(0, len(sends), SENDS_PER_STATEMENT):
        hold_for_review(connection, sends[begin : begin + SENDS_PER_STATEMENT], REASON, by=by)
    return sends
