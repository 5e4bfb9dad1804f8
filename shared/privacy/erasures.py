"""Requests the erasure of a person's data; `worker.jobs.erasure` does it."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import Connection, func, insert

from shared.contacts.suppressions import suppress
from shared.db.tables.privacy import erasure
from shared.ids import new_id

REASON = "erasure"
"""The reason of the opt-out that holds during an erasure."""

ERASED = "0"
"""Replaces an erased phone in a batch, so that the other positions do not change."""

ASK = insert(erasure).values(due_at=func.now() + timedelta(seconds=10))


def ask_to_erase(connection: Connection, account_id: int, phone: str) -> UUID:
    """Request the erasure of the account's data about the phone; from now on nothing is sent to it. Returns the
    erasure.
    """
    erasure_id = new_id()
    connection.execute(ASK, {"id": erasure_id, "account_id": account_id, "phone": int(phone)})
    suppress(connection, account_id, phone, REASON)
    return erasure_id
