"""query_sm and cancel_sm: of messages of the bind's account, however they were sent."""

from uuid import UUID

from sqlalchemy import Connection, Engine

from api.smpp.errors import RefusedPdu
from api.smpp.receipts import error_number, state_of
from api.smpp.times import written_time
from shared.carriers.error_codes import code_of
from shared.carriers.smpp.constants import Status
from shared.carriers.smpp.pdu import c_string, read_c_string
from shared.db.connection import reading
from shared.lifecycle import MessageStatus
from shared.messages.history import MessageRow, one_message
from shared.sends.cancel_message import cancel_one


def query(engine: Engine, account_id: int, body: bytes) -> bytes:
    """The body of a query_sm_resp (§4.8.2). Raises Malformed and RefusedPdu. Blocks."""
    message_id, _ = read_c_string(body, 0)
    with reading(engine) as connection:
        row = _find(connection, account_id, message_id, Status.ESME_RQUERYFAIL)
    code = code_of(row.status, row.error)
    final_date = written_time(row.finished_at)
    return c_string(message_id) + c_string(final_date) + bytes((state_of(row.status, code), error_number(code)))


def cancel(engine: Engine, account_id: int, body: bytes) -> bytes:
    """Cancel a message that no carrier has. Returns the empty body of a cancel_sm_resp (§4.9.2).

    Raises Malformed and RefusedPdu. Blocks.
    """
    _, at = read_c_string(body, 0)
    message_id, _ = read_c_string(body, at)
    with engine.begin() as connection:
        row = _find(connection, account_id, message_id, Status.ESME_RCANCELFAIL)
        cancel_one(connection, row.id)
        if _find(connection, account_id, message_id, Status.ESME_RCANCELFAIL).status != MessageStatus.CANCELED:
            raise RefusedPdu(Status.ESME_RCANCELFAIL)
    return b""


def _find(connection: Connection, account_id: int, message_id: str, otherwise: Status) -> MessageRow:
    try:
        row = one_message(connection, account_id, UUID(message_id))
    except ValueError:
        row = None
    if row is None:
        raise RefusedPdu(otherwise)
    return row
