"""Stores messages from phones, in a transaction that is committed before the carrier is answered.

Parts of a long message are stored until the set is complete. They may arrive through several connections and processes,
so adding a part takes the set's lock, and exactly one process sees it complete. A part that is repeated because our
response was lost is recognised; one with another text begins the next message with the same reference.
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
"""For how long repeated parts of a complete message are recognised."""
AWAITED = "1 day"
"""For how long missing parts are awaited."""
REASON = "stop"
"""The source of opt-outs requested by phones; START removes only these."""

OWNER = text(
    """
    SELECT s.account_id FROM sender_id s JOIN account a ON a.id = s.account_id AND a.sandbox_of IS NULL
     WHERE lower(s.sender_id) = lower(:recipient) AND s.state IN ('approved', 'suspended') ORDER BY s.state LIMIT 1
    """
)
"""Not sandboxes: messages from phones are for live accounts. Suspended sender IDs count too, as people may want to opt
out."""

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
WAITED_FOR = text(
    f"""
    SELECT DISTINCT carrier, phone, sender_id AS recipient, reference, total FROM inbound_part
     WHERE received_at < clock_timestamp() - interval '{AWAITED}' LIMIT 1000
    """
)
DROP_WHOLE = text(f"DELETE FROM inbound_part WHERE whole AND received_at < clock_timestamp() - interval '{REPEATED}'")


class PartSet(NamedTuple):
    """What is the same in all parts of a long message."""

    carrier: str
    phone: str
    recipient: str
    reference: int
    total: int


def store(connection: Connection, carrier: str, messages: Sequence[Inbound]) -> None:
    """Store the messages, and apply STOP and START. The carrier may be answered after the commit."""
    ordered = sorted(messages, key=lambda each: (each.phone, each.recipient, each.reference or 0, each.total))
    for message in ordered:  # in one order in every transaction, as each holds locks of what it has kept
        if message.reference is None or not 1 <= message.number <= message.total or message.total == 1:
            _keep(connection, carrier, message, 1, 0)
        else:
            _add(connection, carrier, message, message.reference)


def end_parts(engine: Engine) -> int:
    """Store incomplete messages whose parts were awaited long enough. Returns how many."""
    with transaction(engine) as connection:
        connection.execute(DROP_WHOLE)
        waited = [PartSet(*row) for row in connection.execute(WAITED_FOR)]
        for each in sorted(waited):
            connection.execute(LOCK_SET, each._asdict())
            _end(connection, each, connection.execute(PARTS, each._asdict()).all())
    return len(waited)


def _add(connection: Connection, carrier: str, part: Inbound, reference: int) -> None:
    """Store a part, and the message if it is complete."""
    key = PartSet(carrier, part.phone, part.recipient, reference, part.total)
    connection.execute(LOCK_SET, key._asdict())
    kept = connection.execute(PARTS, key._asdict()).all()
    content = part.text.replace(MARK, "\ufffd")
    same = next((row for row in kept if row.number == part.number), None)
    if same is not None and not same.over and _opened(connection, key, same) == content:
        return
    if same is not None or any(row.whole for row in kept):
        _end(connection, key, kept)
        kept = []
    octets = seal_part(texts_of(connection), key, part.number, content)
    connection.execute(ADD_PART, {**key._asdict(), "number": part.number, "text": octets})
    if len(kept) + 1 == part.total:
        _keep_set(connection, key, {row.number: _opened(connection, key, row) for row in kept} | {part.number: content})
        connection.execute(MARK_WHOLE, key._asdict())


def _end(connection: Connection, key: PartSet, kept: Sequence[Any]) -> None:
    """Stop waiting for parts; an incomplete message is stored as it is."""
    if kept and not kept[0].whole:
        _keep_set(connection, key, {row.number: _opened(connection, key, row) for row in kept})
    connection.execute(DROP_PARTS, key._asdict())


def _opened(connection: Connection, key: PartSet, row: Any) -> str:
    return open_part(texts_of(connection), key, row.number, bytes(row.text))


def seal_part(texts: Texts, key: PartSet, number: int, content: str) -> bytes:
    """A part's text in its stored form."""
    return texts.seal(content, _name(key, number)).encode("utf-16-be", "surrogatepass")


def open_part(texts: Texts, key: PartSet, number: int, kept: bytes) -> str:
    """A part's stored text. Raises TextKeyMissing or TextUnreadable."""
    return texts.open(kept.decode("utf-16-be", "surrogatepass"), _name(key, number))


def _name(key: PartSet, number: int) -> str:
    return "\x1f".join(map(str, (*key, number)))


def _keep_set(connection: Connection, key: PartSet, parts: dict[int, str]) -> None:
    whole = "".join(parts[number] for number in sorted(parts))
    message = Inbound(key.phone, key.recipient, whole)
    _keep(connection, key.carrier, message, key.total, key.total - len(parts))


def _keep(connection: Connection, carrier: str, message: Inbound, segments: int, missing: int) -> None:
    """Store a message for the account whose sender ID is its recipient; for the operator if there is none."""
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
        _obey(connection, account, keyword, phone)


def _obey(connection: Connection, account: int, keyword: Keyword, phone: str) -> None:
    """Apply the request of the phone's owner."""
    if keyword is Keyword.START:
        connection.execute(OPT_IN, {"account": account, "phone": int(phone), "reason": REASON})
    elif suppress(connection, account, phone, REASON):
        record_change(connection, account, 1, phone, REASON, EVERYTHING)


def storable(content: str) -> str:
    """A text that Postgres can store: surrogate pairs are joined; lone surrogates, NULs and MARK are replaced."""
    joined = content.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    return joined.replace("\0", "\ufffd").replace(MARK, "\ufffd")
