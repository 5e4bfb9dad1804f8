"""Sender IDs: an account requests one, the operator decides, and only approved ones can be used.

A sender ID has 1 to 11 characters: ASCII letters, digits and a few signs of GSM's default alphabet (3GPP TS 23.040
§9.1.2.5), so that no letter can be mistaken for another alphabet's; or it is a short code of 3 to 7 digits, or a
phone's number, digits only.
"""

import re
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Text, and_, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.administration import Refused, lock_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.sandbox import IDS_WITH_SANDBOX, OWNS_SENDER_IDS, approve_in_sandbox, find_sandbox, owns_sender_ids
from shared.db.tables.accounts import account, sender_id
from shared.ids import new_id
from shared.lifecycle import EventType
from shared.outbox import add
from shared.sends.holding import hold_sender, release_sender
from shared.sms.phones import is_phone

ALPHANUMERIC = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9 .\-_+&]{1,11}")
SHORT_CODE = re.compile(r"[0-9]{3,7}", re.ASCII)

MAX_SENDER_IDS = 1_000
"""Sender IDs of one account, however they were decided."""
MAX_PENDING = 100
"""Of these, those that wait for a decision."""

Decision = Literal["approved", "rejected", "suspended"]
Form = Literal["alphanumeric", "short_code", "number"]

NO_SENDER_ID = (
    "Use 1 to 11 of A-Z, a-z, 0-9, space and . - _ + &, with at least one letter and no leading or trailing space; a"
    " short code of 3 to 7 digits; or a phone number of 8 to 15 digits, starting with the country code."
)

NEW = insert(sender_id)
REGISTER = NEW.on_conflict_do_update(
    index_elements=["account_id", "sender_id"],
    set_={"state": "pending", "reason": None, "decided_at": None, "use_case": NEW.excluded.use_case},
    where=sender_id.c.state == "rejected",
).returning(sender_id.c.id)
COUNT = select(func.count().label("all"), func.count().filter(sender_id.c.state == "pending").label("pending")).where(
    sender_id.c.account_id == bindparam("account")
)
REMOVE = (
    delete(sender_id)
    .where(
        sender_id.c.account_id == bindparam("account"),
        sender_id.c.id == bindparam("id"),
        sender_id.c.state != "suspended",
    )
    .returning(sender_id.c.sender_id)
)
LOCK_NAME = select(
    func.pg_advisory_xact_lock(func.hashtextextended("sender " + func.lower(bindparam("sender", type_=Text)), 0))
)
OWNER = (
    select(account.c.name)
    .join_from(sender_id, account, account.c.id == sender_id.c.account_id)
    .where(
        func.lower(sender_id.c.sender_id) == func.lower(bindparam("sender")),
        sender_id.c.account_id != bindparam("account"),
        sender_id.c.state == "approved",
        OWNS_SENDER_IDS,
    )
    .limit(1)
)
OF_ACCOUNT = and_(sender_id.c.account_id == bindparam("account"), sender_id.c.sender_id == bindparam("sender"))
LOCK = select(sender_id.c.state, sender_id.c.authentication).where(OF_ACCOUNT).with_for_update()
DECIDE = (
    update(sender_id)
    .where(OF_ACCOUNT)
    .values(state=bindparam("decision"), reason=bindparam("because"), decided_at=func.clock_timestamp())
)
ALLOW_AUTHENTICATION = (
    update(sender_id)
    .where(sender_id.c.account_id.in_(IDS_WITH_SANDBOX), sender_id.c.sender_id == bindparam("sender"))
    .values(authentication=bindparam("allowed"))
)


def form_of(name: str) -> Form | None:
    """The type of sender ID, or None if carriers would not show it unchanged."""
    if ALPHANUMERIC.fullmatch(name) is not None and name == name.strip():
        return "alphanumeric"
    if SHORT_CODE.fullmatch(name) is not None:
        return "short_code"
    return "number" if is_phone(name) else None


def request_sender(
    connection: Connection, account_id: int, sender: str, use_case: str | None = None, *, by: Actor | None = None
) -> bool:
    """Request a sender ID, or request a rejected one again.

    False if the account has requested it before; its state does not change then.
    """
    if form_of(sender) is None:
        raise Refused(f"{sender!r} is not a sender ID. {NO_SENDER_ID}")
    values = {"id": new_id(), "account_id": account_id, "sender_id": sender, "use_case": use_case}
    new = connection.execute(REGISTER, values).one_or_none() is not None
    if new:
        record(connection, by, "sender.requested", account_id=account_id, subject=sender)
    return new


def check_number(connection: Connection, account_id: int) -> None:
    """Raise Refused if the account has too many sender IDs, with those of this transaction."""
    found = connection.execute(COUNT, {"account": account_id}).one()
    if found.all > MAX_SENDER_IDS:
        raise Refused(f"An account has at most {MAX_SENDER_IDS:,} sender IDs.", code="sender_limit")
    if found.pending > MAX_PENDING:
        raise Refused(f"At most {MAX_PENDING} sender IDs of an account can wait for approval.", code="sender_limit")


def remove_sender(connection: Connection, account_id: int, sender: UUID, *, by: Actor | None = None) -> bool:
    """Delete a sender ID; accepted sends are still sent. False if there is none, or it is suspended."""
    name = connection.execute(REMOVE, {"account": account_id, "id": sender}).scalar()
    if name is not None:
        record(connection, by, "sender.removed", account_id=account_id, subject=name)
    return name is not None


def allow_authentication_from(
    connection: Connection, account_id: int, sender: str, allowed: bool, *, by: Actor | None = None
) -> None:
    """Set whether sends from the sender ID may have the category `authentication`, whatever the account may."""
    values = {"account": account_id, "sender": sender, "allowed": allowed}
    if not connection.execute(ALLOW_AUTHENTICATION, values).rowcount:
        raise Refused(f"The account has not requested {sender!r}.", "`bulksms sender request` does that.")
    after = {"authentication": allowed}
    record(connection, by, "sender.authentication_set", account_id=account_id, subject=sender, after=after)


def decide_sender(
    connection: Connection,
    account_id: int,
    sender: str,
    state: Decision,
    reason: str | None = None,
    *,
    by: Actor | None = None,
) -> None:
    """Approve, reject or suspend a sender ID; customers who use it are told the `reason`.

    Open sends are held while the sender ID is suspended or rejected, and released when it is approved. Raises Refused
    if another account has the same name, ignoring upper and lower case: nobody may send under another's name, except
    sandboxes and tests of carriers. Approvals apply to the sandbox too.
    """
    if state != "approved" and not reason:
        raise Refused(f"Say why {sender!r} is {state}: the account sees the reason.")
    connection.execute(LOCK_NAME, {"sender": sender})
    if state == "approved" and owns_sender_ids(connection, account_id):
        owner = connection.execute(OWNER, {"sender": sender, "account": account_id}).scalar()
        if owner is not None:
            raise Refused(f"{sender!r} is approved for the account {owner!r} and cannot be another account's too.")
    before = connection.execute(LOCK, {"account": account_id, "sender": sender}).one_or_none()
    if before is None:
        raise Refused(f"The account has not requested {sender!r}.", "`bulksms sender request` does that.")
    values = {"account": account_id, "sender": sender, "decision": state, "because": reason}
    connection.execute(DECIDE, values)
    record(
        connection,
        by,
        f"sender.{state}",
        account_id=account_id,
        subject=sender,
        before={"state": before.state},
        after={"state": state},
        reason=reason,
    )
    add(connection, account_id, EventType(f"sender_id.{state}"), {"sender_id": sender, "reason": reason})
    if state == "approved":
        release_sender(connection, account_id, sender)
        lock_account(connection, account_id)  # a sandbox that is being created has not copied this approval
        sandbox = find_sandbox(connection, account_id)
        if sandbox is not None:
            approve_in_sandbox(connection, sandbox, sender, before.authentication)
    else:
        hold_sender(connection, account_id, sender, f"The sender ID {sender!r} is {state}: {reason}")
