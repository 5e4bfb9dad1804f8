"""Stores inbound messages, in the transaction whose commit the response to the carrier waits for.

Parts of a long message are stored until the set is complete. They may arrive over several connections and processes, so
adding a part takes a lock on its set, and exactly one process sees it complete. A repeated part, after our response was
lost, is ignored; one with another text begins the next message under the same reference.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, text

from shared import outbox as events
from shared.contacts.suppressions import EVERYTHING, record_change, suppress
from shared.db.connection import transaction
from shared.db.encryption_keys import texts_of
from shared.encryption import MARK, Texts
from shared.ids import new_id
from shared.inbound.keywords import Keyword, keyword_of
from shared.inbound.kinds import Inbound
from shared.outbox import EventType
from shared.sms.phones import is_phone

REPEATED = "10 minutes"
"""Time for which repeated parts of a complete message are recognised."""
AWAITED = "1 day"
"""Time to wait for missing parts."""
REASON = "stop"
"""Reason of suppressions that recipients requested; START removes only these."""

OWNER = text(
    """
    SELECT s.account_id FROM sender_id s JOIN account a ON a.id = s.account_id AND a.sandbox_of IS NULL
     WHERE lower(s.sender_id) = lower(:recipient) AND s.state IN ('approved', 'suspended') ORDER BY s.state LIMIT 1
    """
)
"""A live account, never a sandbox. A suspended sender ID still receives messages: they may be opt-outs."""

KEEP = text(
    """
    INSERT INTO inbound (id, account_id, carrier, identity, phone, sender_id, message, segments, missing, keyword)
    VALUES (:id, :account, :carrier, :identity, :phone, :recipient, :message, :segments, :missing, :keyword)
    ON CONFLICT (carrier, identity) DO NOTHING
    """
)

OPT_IN = text(
    """
    DELETE FROM suppression
     WHERE account_id = :account AND category = '' AND sender_id = '' AND reason = :reason
       AND phone IN (:phone, (SELECT erased_phone(:account, :phone, erasure_key) FROM installation))
    """
)

SET = (
    """carrier = :carrier AND phone = :phone AND sender_id = :recipient AND reference = :reference AND total = :total"""
)

LOCK_SET = text(
    """
    SELECT pg_advisory_xact_lock(hashtextextended(
        concat_ws(chr(31), 'inbound', CAST(:carrier AS text), CAST(:phone AS text), CAST(:recipient AS text),
                  CAST(:reference AS text), CAST(:total AS text)), 0))
    """
)
PARTS = text(
    f"""
    SELECT number, text, whole AND received_at < clock_timestamp() - interval '{REPEATED}' AS over, whole
      FROM inbound_part WHERE {SET} ORDER BY number
    """
)
ADD_PART = text(
    """
    INSERT INTO inbound_part (carrier, phone, sender_id, reference, total, number, text)
    VALUES (:carrier, :phone, :recipient, :reference, :total, :number, :text)
    """
)
MARK_WHOLE = text(f"UPDATE inbound_part SET whole = true, received_at = clock_timestamp() WHERE {SET}")
DROP_PARTS = text(f"DELETE FROM inbound_part WHERE {SET}")
OVERDUE = text(
    f"""
    SELECT DISTINCT carrier, phone, sender_id AS recipient, reference, total FROM inbound_part
     WHERE received_at < clock_timestamp() - interval '{AWAITED}' LIMIT 1000
    """
)
DROP_WHOLE = text(f"DELETE FROM inbound_part WHERE whole AND received_at < clock_timestamp() - interval '{REPEATED}'")


class PartSet(NamedTuple):
    """The values that all parts of a long message share, which identify the set."""

    carrier: str
    phone: str
    recipient: str
    reference: int
    total: int


def store(connection: Connection, carrier: str, messages: Sequence[Inbound]) -> None:
    """Store messages and apply STOP and START. Respond to the carrier only after the commit."""
    ordered = sorted(messages, key=lambda each: (each.phone, each.recipient, each.reference or 0, each.total))
    for message in ordered:  # sorted, because each takes locks until the commit: prevents deadlocks
        if message.reference is None or not 1 <= message.number <= message.total or message.total == 1:
            _keep(connection, carrier, message, 1, 0)
        else:
            _add_part(connection, carrier, message, message.reference)


def end_parts(engine: Engine) -> int:
    """Store messages whose missing parts have not arrived in time, without them. Returns their number."""
    with transaction(engine) as connection:
        connection.execute(DROP_WHOLE)
        overdue = [PartSet(*row) for row in connection.execute(OVERDUE)]
        for each in sorted(overdue):
            connection.execute(LOCK_SET, each._asdict())
            _finish_set(connection, each, connection.execute(PARTS, each._asdict()).all())
    return len(overdue)


def _add_part(connection: Connection, carrier: str, part: Inbound, reference: int) -> None:
    """Store a part, and the message too if this was its last missing part."""
    key = PartSet(carrier, part.phone, part.recipient, reference, part.total)
    connection.execute(LOCK_SET, key._asdict())
    stored = connection.execute(PARTS, key._asdict()).all()
    content = part.text.replace(MARK, "\ufffd")
    existing = next((row for row in stored if row.number == part.number), None)
    if existing is not None and not existing.over and _opened(connection, key, existing) == content:
        return
    if existing is not None or any(row.whole for row in stored):
        _finish_set(connection, key, stored)
        stored = []
    octets = seal_part(texts_of(connection), key, part.number, content)
    connection.execute(ADD_PART, {**key._asdict(), "number": part.number, "text": octets})
    if len(stored) + 1 == part.total:
        _keep_set(
            connection, key, {row.number: _opened(connection, key, row) for row in stored} | {part.number: content}
        )
        connection.execute(MARK_WHOLE, key._asdict())


def _finish_set(connection: Connection, key: PartSet, stored: Sequence[Any]) -> None:
    """Stop waiting for parts: store an incomplete message as it is, and delete its parts."""
    if stored and not stored[0].whole:
        _keep_set(connection, key, {row.number: _opened(connection, key, row) for row in stored})
    connection.execute(DROP_PARTS, key._asdict())


def _opened(connection: Connection, key: PartSet, row: Any) -> str:
    return open_part(texts_of(connection), key, row.number, bytes(row.text))


def seal_part(texts: Texts, key: PartSet, number: int, content: str) -> bytes:
    """A part's text as stored in its row."""
    return texts.seal(content, _name(key, number)).encode("utf-16-be", "surrogatepass")


def open_part(texts: Texts, key: PartSet, number: int, stored: bytes) -> str:
    """The text stored in a part's row. Raises TextKeyMissing or TextUnreadable."""
    return texts.open(stored.decode("utf-16-be", "surrogatepass"), _name(key, number))


def _name(key: PartSet, number: int) -> str:
    return "\x1f".join(map(str, (*key, number)))


def _keep_set(connection: Connection, key: PartSet, parts: dict[int, str]) -> None:
    content = "".join(parts[number] for number in sorted(parts))
    message = Inbound(key.phone, key.recipient, content)
    _keep(connection, key.carrier, message, key.total, key.total - len(parts))


def _keep(connection: Connection, carrier: str, message: Inbound, segments: int, missing: int) -> None:
    """Store a message for the account with its recipient as a sender ID, or else for the operator."""
    recipient = message.recipient.removeprefix("+")
    account = connection.execute(OWNER, {"recipient": recipient}).scalar()
    content = storable(message.text)
    keyword = keyword_of(content) if not missing else None
    phone = message.phone.removeprefix("+")
    identity = new_id()
    sealed = texts_of(connection).seal(content, identity)
    values = {
        "id": identity,
        "account": account,
        "carrier": carrier,
        "identity": message.identity,
        "phone": phone,
        "recipient": recipient,
        "message": sealed,
        "segments": segments,
        "missing": missing,
        "keyword": keyword,
    }
    if not connection.execute(KEEP, values).rowcount or account is None:
        return
    data = {"phone": phone, "sender_id": recipient, "message": sealed, "keyword": keyword}
    events.add(connection, account, EventType.MESSAGE_RECEIVED, {"inbound_id": str(identity), **data})
    if keyword is not None and is_phone(phone):
        apply_keyword(connection, account, keyword, phone)


def apply_keyword(connection: Connection, account: int, keyword: Keyword, phone: str) -> None:
    """Apply an opt-out or opt-in."""
    if keyword is Keyword.START:
        connection.execute(OPT_IN, {"account": account, "phone": int(phone), "reason": REASON})
    elif suppress(connection, account, phone, REASON):
        record_change(connection, account, 1, phone, REASON, EVERYTHING)


def storable(content: str) -> str:
    """The text in a form that can be stored: surrogate pairs joined; lone surrogates, NUL and MARK replaced."""
    joined = content.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    return joined.replace("\0", "\ufffd").replace(MARK, "\ufffd")
