"""Requests the erasure of a person's data; `worker.jobs.erasure` does it."""

from uuid import UUID

from sqlalchemy import Connection, text

from shared.contacts.suppressions import suppress
from shared.ids import new_id

REASON = "erasure"
"""The reason of the opt-out that holds during an erasure."""

ERASED = "0"
"""Replaces an erased phone in a batch, so that the other positions do not change."""

ASK = text(
    """
    INSERT INTO erasure (id, account_id, phone, due_at) VALUES (:id, :account, :phone, now() + interval '10 seconds')
    """
)


def ask_to_erase(connection: Connection, account_id: int, phone: str) -> UUID:
    """Request the erasure of the account's data about the phone; from now on nothing is sent to it. Returns the
    erasure.
    """
    erasure = new_id()
    connection.execute(ASK, {"id": erasure, "account": account_id, "phone": int(phone)})
    suppress(connection, account_id, phone, REASON)
    return erasure
