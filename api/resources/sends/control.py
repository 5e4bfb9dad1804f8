"""Cancel, pause and resume a send, as far as its messages are not submitted yet."""

from uuid import UUID

from sqlalchemy import Connection

from api.problems import Problem
from api.resources.sends import queries
from shared.lifecycle import SendState
from shared.sends import batch_states, fair_queueing, send_states
from shared.sends.close_unsent import close_unsent
from shared.sends.holding import lock_sends, pause_canary, release_from_rule
from shared.sends.requeue import give_back_turns, requeue_send


def cancel(connection: Connection, send: UUID) -> None:
    """Cancel the rest of the send. Idempotent. Raises Problem state_conflict if the send is completed."""
    state = connection.execute(queries.STATE, {"send": send}).scalar_one()
    if state == SendState.COMPLETED:
        raise state_conflict(state, "be canceled")
    if state != SendState.CANCELED:
        close_unsent(connection, send, "canceled")


def pause(connection: Connection, send: UUID) -> None:
    """Pause the send. Idempotent. Raises Problem state_conflict if it has ended, or more than its canary holds it."""
    state = connection.execute(queries.STATE, {"send": send}).scalar_one()
    if state == SendState.PAUSED:
        return
    held_by = connection.execute(queries.HELD_BY, {"send": send}).scalar()
    if held_by != "canary" or not pause_canary(connection, send):
        connection.execute(batch_states.PAUSE, {"send": send})
        if not connection.execute(send_states.PAUSE, {"send": send}).rowcount:
            raise state_conflict(state, "be paused")
    give_back_turns(connection, send)


def resume(connection: Connection, send: UUID) -> None:
    """Resume the send. Raises Problem state_conflict unless it is paused, or held by its own rule, which then ends."""
    held_by = connection.execute(queries.HELD_BY, {"send": send}).scalar()
    if held_by in ("canary", "stop_if") and release_from_rule(connection, send, held_by):
        return
    lock_sends(connection, [send])
    state = connection.execute(queries.STATE, {"send": send}).scalar_one()
    clock = fair_queueing.clock(connection)
    connection.execute(batch_states.RESUME, {"send": send})
    if not connection.execute(send_states.RESUME, {"send": send}).rowcount:
        raise state_conflict(state, "be resumed")
    requeue_send(connection, send, clock)


def state_conflict(state: str, what: str) -> Problem:
    """The 409 for what a send in this state cannot do."""
    return Problem("state_conflict", f"The send is {state} and cannot {what}.", send_status=state)
