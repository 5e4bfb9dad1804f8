"""Requests the erasure of a person's data; `worker.jobs.erasure` does it."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import Connection, and_, bindparam, func, insert, or_, select

from shared.accounts.refused import Refused
from shared.contacts.suppressions import record_list_change
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.messages import erasure
from shared.db.tables.sends import send
from shared.ids import new_id
from shared.sms.spellings import other_spellings

ERASED_PHONE = "0"
"""Replaces an erased phone in a batch, so that the other positions do not change."""
TO_ONE_PHONE = or_(send.c.kind == "single", and_(send.c.kind == "bulk", send.c.accepted == 1))
"""Whether all that a send says may be about one person."""

MAX_OPEN = 1_000
"""Erasures of one account that are not complete."""
OPEN = select(func.count()).where(erasure.c.account_id == bindparam("account"), erasure.c.completed_at.is_(None))


ASK = insert(erasure).values(due_at=func.now() + timedelta(seconds=10))


def ask_to_erase(connection: Connection, account_id: int, phone: str) -> UUID:
    """Request the erasure of the account's data about the phone; from now on nothing is sent to it. Returns the
    erasure. Raises Refused if it has too many. Other spellings of the number have erasures of their own.
    """
    one_at_a_time(connection, "erasures", account_id)
    if connection.execute(OPEN, {"account": account_id}).scalar_one() >= MAX_OPEN:
        raise Refused(f"At most {MAX_OPEN:,} erasures of an account can be open.", code="erasure_limit")
    erasure_id = new_id()
    for spelling in (phone, *other_spellings(phone)):
        own = erasure_id if spelling == phone else new_id()
        connection.execute(ASK, {"id": own, "account_id": account_id, "phone": int(spelling)})
    record_list_change(connection, account_id)
    return erasure_id
