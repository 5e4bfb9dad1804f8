"""Sender IDs: an account asks for one, the operator decides, and only an approved one may be sent from.

A sender ID is 1 to 11 characters of GSM's default alphabet (3GPP TS 23.040 §9.1.2.5) of which we take letters, digits
and a few signs, all ASCII, so that no letter can be mistaken for another alphabet's; or a number of 3 to 15 digits.
"""

import re
from typing import Literal

from sqlalchemy import Connection, text

from shared.accounts import Refused
from shared.changes import By, record
from shared.events import EventType, add

ALPHANUMERIC = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9 .\-_+&]{1,11}")
NUMERIC = re.compile(r"[0-9]{3,15}")

Decision = Literal["approved", "rejected", "suspended"]

REGISTER = text(
    """
    INSERT INTO sender_id (account_id, sender_id) VALUES (:account, :sender)
    ON CONFLICT (account_id, sender_id) DO NOTHING
    """
)
LOCK_NAME = text("SELECT pg_advisory_xact_lock(hashtextextended('sender ' || lower(:sender), 0))")
OWNER = text(
    """
    SELECT a.name FROM sender_id s JOIN account a ON a.id = s.account_id
     WHERE lower(s.sender_id) = lower(:sender) AND s.account_id <> :account AND s.state = 'approved' LIMIT 1
    """
)
STATE = text("SELECT state FROM sender_id WHERE account_id = :account AND sender_id = :sender FOR UPDATE")
DECIDE = text(
    """
    UPDATE sender_id SET state = :state, reason = :reason, decided_at = clock_timestamp()
     WHERE account_id = :account AND sender_id = :sender
    """
)


def is_sender_id(name: str) -> bool:
    """Whether carriers show the name as it is: 1 to 11 of `A-Z a-z 0-9 . - _ + &` and spaces, or 3 to 15 digits."""
    alphanumeric = ALPHANUMERIC.fullmatch(name) is not None and name == name.strip()
    return alphanumeric or NUMERIC.fullmatch(name) is not None


def request_sender(connection: Connection, account_id: int, sender: str, *, by: By | None = None) -> bool:
    """Ask for a sender ID. False when the account has asked for it before; its state is then as it was."""
    if not is_sender_id(sender):
        raise Refused(
            f"{sender!r} is no sender ID. Take 1 to 11 of A-Z, a-z, 0-9, space and . - _ + & with a letter among them,"
            " or 3 to 15 digits."
        )
    new = bool(connection.execute(REGISTER, {"account": account_id, "sender": sender}).rowcount)
    if new:
        record(connection, by, "sender.requested", account_id=account_id, subject=sender)
    return new


def decide_sender(
    connection: Connection,
    account_id: int,
    sender: str,
    state: Decision,
    reason: str | None = None,
    *,
    by: By | None = None,
) -> None:
    """Approve, reject or suspend a sender ID; `reason` is told to whoever tries to send from it.

    Refused where another account has the name, in capitals or not: nobody may send in another's name.
    """
    if state != "approved" and not reason:
        raise Refused(f"Say why {sender!r} is {state}: the account is told the reason.")
    connection.execute(LOCK_NAME, {"sender": sender})
    if state == "approved":
        owner = connection.execute(OWNER, {"sender": sender, "account": account_id}).scalar()
        if owner is not None:
            raise Refused(f"{sender!r} is approved for the account {owner!r} and cannot be another account's too.")
    before = connection.execute(STATE, {"account": account_id, "sender": sender}).scalar()
    values = {"account": account_id, "sender": sender, "state": state, "reason": reason}
    if not connection.execute(DECIDE, values).rowcount:
        raise Refused(f"The account has not asked for {sender!r}. `bulksms sender request` does that.")
    record(
        connection,
        by,
        f"sender.{state}",
        account_id=account_id,
        subject=sender,
        before={"state": before},
        after={"state": state},
        reason=reason,
    )
    add(connection, account_id, EventType(f"sender_id.{state}"), {"sender_id": sender, "reason": reason})
