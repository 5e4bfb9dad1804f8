"""query_sm and cancel_sm: of messages of the bind's account, however they were sent."""

import contextlib
from uuid import UUID

from sqlalchemy import Connection, Engine, bindparam, select

from api.smpp.binds import Bound
from api.smpp.errors import RefusedPdu
from api.smpp.receipts import error_number, state_of
from api.smpp.submits import sender_of
from api.smpp.times import written_time
from shared.carriers.error_codes import code_of
from shared.carriers.smpp.constants import Status
from shared.carriers.smpp.pdu import c_string, read_c_string
from shared.db.connection import reading
from shared.db.tables.sends import batch, send
from shared.ids import message_id
from shared.lifecycle import MessageStatus
from shared.messages.history import MessageRow, one_message
from shared.sends.batch_states import NOT_TAKEN_STATES
from shared.sends.cancel_message import cancel_one

MAX_SENDS, MAX_CANCELED = 1_000, 100
"""The newest sends of the account, among which a cancellation without an id looks, and how many it cancels."""
NEWEST = (
    select(*send.c["id", "kind", "api_key_id", "sender_id"])
    .where(send.c.account_id == bindparam("account"))
    .order_by(send.c.id.desc())
    .limit(MAX_SENDS)
    .subquery()
)
TO_PHONE = (
    select(batch.c.id)
    .join(NEWEST, NEWEST.c.id == batch.c.send_id)
    .where(
        NEWEST.c.kind == "single",
        NEWEST.c.api_key_id == bindparam("key"),
        NEWEST.c.sender_id == bindparam("sender"),
        batch.c.recipients == bindparam("phone"),
        batch.c.state.in_(NOT_TAKEN_STATES),
    )
    .order_by(batch.c.id)
    .limit(MAX_CANCELED)
)
"""Batches of one message that a credential has submitted from a sender ID to a phone, and that no worker has."""


def query(engine: Engine, bound: Bound, body: bytes) -> bytes:
    """The body of a query_sm_resp (§4.8.2). Raises Malformed and RefusedPdu. Blocks."""
    identifier, at = read_c_string(body, 0)
    source, _ = read_c_string(body, at + 2)
    with reading(engine) as connection:
        row = _find(connection, bound, identifier, source, body[at])
    if row is None:
        raise RefusedPdu(Status.ESME_RQUERYFAIL)
    code = code_of(row.status, row.error)
    final_date = written_time(row.finished_at)
    return c_string(identifier) + c_string(final_date) + bytes((state_of(row.status, code), error_number(code)))


def cancel(engine: Engine, bound: Bound, body: bytes) -> bytes:
    """Cancel a message that no carrier has, or without an id all between two addresses. Returns the empty body of a
    cancel_sm_resp (§4.9.2).

    Raises Malformed and RefusedPdu. Blocks.
    """
    _, at = read_c_string(body, 0)
    identifier, at = read_c_string(body, at)
    source, end = read_c_string(body, at + 2)
    destination, _ = read_c_string(body, end + 2)
    identifiers = [identifier] if identifier else _between(engine, bound, source, body[at], destination)
    canceled = [_is_canceled(engine, bound, each, source, body[at]) for each in identifiers]
    if not any(canceled):
        raise RefusedPdu(Status.ESME_RCANCELFAIL)
    return b""


def _is_canceled(engine: Engine, bound: Bound, identifier: str, source: str, ton: int) -> bool:
    """Cancel one message if that is still possible: in a transaction of its own, as they would lock each other out."""
    with engine.begin() as connection:
        if row := _find(connection, bound, identifier, source, ton):
            cancel_one(connection, row.id)
            row = _find(connection, bound, identifier, source, ton)
    return row is not None and row.status == MessageStatus.CANCELED


def _between(engine: Engine, bound: Bound, source: str, ton: int, destination: str) -> list[str]:
    values = {"sender": sender_of(source, ton, bound.credential), "phone": destination.removeprefix("+")}
    of_bound = {"account": bound.caller.account_id, "key": bound.caller.key_id}
    with reading(engine) as connection:
        return [str(message_id(found, 1)) for found in connection.execute(TO_PHONE, {**values, **of_bound}).scalars()]


def _find(connection: Connection, bound: Bound, identifier: str, source: str, ton: int) -> MessageRow | None:
    """The message with this id, from this source address if one is given."""
    with contextlib.suppress(ValueError):
        row = one_message(connection, bound.caller.account_id, UUID(identifier))
        if row is not None and (not source or sender_of(source, ton, bound.credential) == row.sender_id):
            return row
    return None
