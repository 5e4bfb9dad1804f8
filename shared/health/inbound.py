"""Findings of `bulksms doctor` about opt-outs that had no effect: of numbers that cannot be read, or to nobody's."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, bindparam, func, select

from shared.db.tables.accounts import audit_log
from shared.db.tables.inbound import inbound
from shared.health.finding import Finding
from shared.ids import first_id_at
from shared.inbound.owners import APPROVALS
from shared.plurals import counted
from shared.sms.numbering import is_possible
from shared.sms.phones import is_phone

RECENT = timedelta(days=7)
MAX_EXAMINED = 10_000
"""Most messages examined, the newest."""
KEYWORDS = (
    select(*inbound.c["carrier", "sender_id", "phone"])
    .where(inbound.c.id >= bindparam("since"), inbound.c.keyword.is_not(None), inbound.c.account_id.is_not(None))
    .order_by(inbound.c.id.desc())
    .limit(MAX_EXAMINED)
)
TO_NOBODY = (
    select(*inbound.c["carrier", "sender_id"])
    .where(inbound.c.id >= bindparam("since"), inbound.c.keyword.in_(["stop", "possible_stop"]))
    .where(
        inbound.c.account_id.is_(None),
        ~APPROVALS.where(
            func.lower(audit_log.c.subject) == func.lower(inbound.c.sender_id), audit_log.c.at < inbound.c.received_at
        ).exists(),
    )
    .order_by(inbound.c.id.desc())
    .limit(MAX_EXAMINED)
)


def keywords_finding(connection: Connection) -> Finding:
    """Whether each STOP and START of the last days came from a number that can be one."""
    rows = connection.execute(KEYWORDS, {"since": first_id_at(datetime.now(UTC) - RECENT)})
    lost = Counter((row.carrier, row.sender_id) for row in rows if not (is_phone(row.phone) and is_possible(row.phone)))
    if not lost:
        return Finding("STOP and START", "ok", "each of the last 7 days came from a phone number")
    messages = counted(lost.total(), "STOP or START message")
    ((carrier, sent_to), _), *_ = lost.most_common(1)
    detail = f"{messages} of the last 7 days came from no number that can be read, most from {carrier!r} to {sent_to!r}"
    remedy = (
        "They opted nobody out. Ask the carrier to write senders as international numbers, or set the account's country"
        " with bulksms account country; opt these out by hand with bulksms suppression add."
    )
    return Finding("STOP and START", "notice", detail, remedy)


def destinations_finding(connection: Connection) -> Finding:
    """Whether each STOP of the last days was sent to a number that an account has or had."""
    rows = connection.execute(TO_NOBODY, {"since": first_id_at(datetime.now(UTC) - RECENT)})
    lost = Counter((row.carrier, row.sender_id) for row in rows)
    if not lost:
        return Finding("STOP to accounts", "ok", "each of the last 7 days was sent to a number of an account")
    ((carrier, sent_to), _), *_ = lost.most_common(1)
    messages = counted(lost.total(), "STOP message")
    detail = f"{messages} of the last 7 days came to no number of an account, most from {carrier!r} to {sent_to!r}"
    remedy = (
        "They opted nobody out. Approve the number, with its country code, as a sender ID and give it these with"
        " bulksms inbound assign; opt the others out by hand with bulksms suppression add."
    )
    return Finding("STOP to accounts", "notice", detail, remedy)
