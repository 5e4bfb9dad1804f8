"""Asking for a person to be erased; `worker.jobs.erasure` does it."""

from uuid import UUID

from sqlalchemy import Connection, text

from shared.contacts.suppressions import suppress
from shared.ids import new_id

REASON = "erasure"
"""Of the opt-out that holds while an erasure is under way."""

ERASED = "0"
"""What stands in a batch in place of an erased phone. The places of the others do not change."""

ASK = text(
    """
    INSERT INTO erasure (id, account_id, phone, due_at) VALUES (:id, :account, :phone, now() + interval '10 seconds')
    """
)


def ask_to_erase(connection: Connection, account_id: int, phone: str) -> UUID:
    """Erase what the account has of the phone, soon; from now on nothing is sent to it. Returns the erasure."""
    erasure = new_id()
    connection.execute(ASK, {"id": erasure, "account": account_id, "phone": int(phone)})
    suppress(connection, account_id, phone, REASON)
    return erasure
