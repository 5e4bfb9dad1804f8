"""Which account a number belongs to, and which one it belonged to last."""

from sqlalchemy import Text, and_, bindparam, func, literal_column, select

from shared.db.tables.accounts import account, audit_log, sender_id

IS_LIVE = account.c.sandbox_of.is_(None)
SENT_TO = func.lower(bindparam("sent_to", type_=Text))

OWNER = (
    select(sender_id.c.account_id, account.c.country)
    .join_from(sender_id, account, and_(account.c.id == sender_id.c.account_id, IS_LIVE))
    .where(func.lower(sender_id.c.sender_id) == SENT_TO, sender_id.c.state.in_(["approved", "suspended"]))
    .order_by(sender_id.c.state)
    .limit(1)
)
"""A live account, never a sandbox. A suspended sender ID still receives messages: they may be opt-outs."""
LAST_OWNER = (
    select(audit_log.c.account_id, account.c.country)
    .join_from(audit_log, account, and_(account.c.id == audit_log.c.account_id, IS_LIVE))
    .where(func.lower(audit_log.c.subject) == SENT_TO, audit_log.c.action == literal_column("'sender.approved'"))
    .order_by(audit_log.c.id.desc())
    .limit(1)
)
"""The account for which the number was approved last, also if it has deleted it or it was rejected since."""
