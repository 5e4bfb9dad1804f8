"""Which account a number belongs to, and which one it belonged to last."""

from sqlalchemy import Connection, Text, and_, bindparam, func, literal_column, select

from shared.accounts.sandbox import OWNS_SENDER_IDS
from shared.db.expressions import in_constants, in_parameter
from shared.db.tables.accounts import account, audit_log, sender_id
from shared.sms.countries import COUNTRY_CODES
from shared.sms.phones import is_phone

SENT_TO = func.lower(bindparam("sent_to", type_=Text))

IS_OWNED = in_constants(sender_id.c.state, "approved", "suspended")

OWNER = (
    select(sender_id.c.account_id, account.c.country)
    .join_from(sender_id, account, and_(account.c.id == sender_id.c.account_id, OWNS_SENDER_IDS))
    .where(func.lower(sender_id.c.sender_id) == SENT_TO, IS_OWNED)
    .order_by(sender_id.c.state)
    .limit(1)
)
"""No sandbox, and no test of carriers. A suspended sender ID still receives messages: they may be opt-outs."""
APPROVALS = (
    select(audit_log.c.account_id, account.c.country)
    .join_from(audit_log, account, and_(account.c.id == audit_log.c.account_id, OWNS_SENDER_IDS))
    .where(audit_log.c.action == literal_column("'sender.approved'"))
)
LAST_OWNER = APPROVALS.where(func.lower(audit_log.c.subject) == SENT_TO).order_by(audit_log.c.id.desc()).limit(1)
"""The account for which the number was approved last, also if it has deleted it or it was rejected since."""
OWNED = (
    select(sender_id.c.sender_id)
    .distinct()
    .join_from(sender_id, account, and_(account.c.id == sender_id.c.account_id, OWNS_SENDER_IDS))
    .where(in_parameter(func.lower(sender_id.c.sender_id, type_=Text), "numbers"), IS_OWNED)
)
"""Which of many numbers are accounts' sender IDs."""


def number_sent_to(connection: Connection, written: str) -> str:
    """The sender ID to which a message was sent, from the destination as the carrier writes it.

    Carriers write a number with + or 00, or as it is dialed within its country. The last is read only if nobody has or
    had a sender ID so written, and exactly one of all accounts' numbers has these digits after its country's code.
    """
    if written.startswith("00") and is_phone(written[2:]):
        return written[2:]
    sent_to = written.removeprefix("+")
    if sent_to != written or not is_phone(digits := sent_to.removeprefix("0")):
        return sent_to
    if any(connection.execute(each, {"sent_to": sent_to}).first() for each in (OWNER, LAST_OWNER)):
        return sent_to
    nationals = {sent_to, digits}  # Italian numbers keep their 0 after the country's code
    numbers = [f"{code}{national}" for code in COUNTRY_CODES for national in nationals]
    found = connection.execute(OWNED, {"numbers": numbers}).scalars().all()
    return str(found[0]) if len(found) == 1 else sent_to
