"""Stores inbound messages, in the transaction whose commit the response to the carrier waits for.

Parts of a long message are stored until the set is complete. They may arrive over several connections and processes, so
adding a part takes a lock on its set, and exactly one process sees it complete. A repeated part, after our response was
lost, is ignored; one with another text begins the next message under the same reference.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    Connection,
    Engine,
    Integer,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from shared import outbox
from shared.contacts.suppressions import (
    BY_CARRIER,
    BY_STOP,
    EVERYTHING,
    OF_PHONE,
    POSSIBLE,
    Scope,
    report_suppressed,
    spellings,
    suppress,
)
from shared.db.connection import transaction
from shared.db.encryption_keys import texts_of
from shared.db.tables.contacts import suppression
from shared.db.tables.inbound import inbound, inbound_part
from shared.encryption import MARK, TextKeyMissing, Texts, TextUnreadable
from shared.ids import new_id
from shared.inbound.joining import Part, join, part_of
from shared.inbound.keywords import Keyword, keyword_of
from shared.inbound.kinds import Inbound
from shared.inbound.owners import LAST_OWNER, OWNER, number_sent_to
from shared.inbound.senders import sender_number
from shared.lifecycle import Category, EventType
from shared.sms.phones import is_phone

log = logging.getLogger(__name__)

MAX_PARTS = 255
"""Most parts of a message: each of a part's headers has one octet for their number."""
MAX_REFERENCE = 2**31 - 1
"""Largest reference that can be stored. The headers have two octets for it, but carriers may send more."""
REPEATED = timedelta(minutes=10)
"""Time for which repeated parts of a complete message are recognized."""
AWAITED = timedelta(days=1)
"""Time to wait for missing parts."""
SETS_PER_PAGE = 1_000
"""Incomplete messages that are looked for at once."""
UNDECIDED = Scope(Category.MARKETING)
"""What a phone gets no more until somebody has decided whether it has opted out."""

KEEP = insert(inbound).on_conflict_do_nothing(index_elements=["carrier", "identity"]).returning(inbound.c.id)
IS_UNDECIDED = and_(suppression.c.category == UNDECIDED.category, suppression.c.reason == POSSIBLE)
FROM_EVERY_SENDER = and_(OF_PHONE, suppression.c.sender_id == "")
OPT_IN = delete(suppression).where(
    FROM_EVERY_SENDER,
    or_(and_(suppression.c.category == "", suppression.c.reason.in_([BY_STOP, BY_CARRIER])), IS_UNDECIDED),
)
DECIDE = delete(suppression).where(FROM_EVERY_SENDER, IS_UNDECIDED)
HAS_OPTED_OUT = select(exists().where(FROM_EVERY_SENDER, suppression.c.category.in_(["", UNDECIDED.category])))
"""Also from marketing only. An open erasure is no opt-out: one that comes meanwhile must outlast it."""
PART = inbound_part.c
SET = (
    bindparam("of_carrier", type_=Text),
    bindparam("of_phone", type_=Text),
    bindparam("of_sent_to", type_=Text),
    bindparam("of_reference", type_=Integer),
    bindparam("of_total", type_=Integer),
)
NAME_OF_SET = func.concat_ws(func.chr(31), "inbound", *(cast(each, Text) for each in SET))
LOCK_SET = select(func.pg_advisory_xact_lock(func.hashtextextended(NAME_OF_SET, 0)))
"""Locks a set of parts, also one of which none is stored: exactly one process sees it complete."""
OF_SET = tuple_(PART.carrier, PART.phone, PART.sender_id, PART.reference, PART.total) == tuple_(*SET)
IS_OVER = and_(PART.whole, PART.received_at < func.statement_timestamp() - REPEATED)
PARTS = (
    select(PART.number, PART.text, PART.charset, IS_OVER.label("over"), PART.whole).where(OF_SET).order_by(PART.number)
)
ADD_PART = insert(inbound_part)
MARK_WHOLE = update(inbound_part).where(OF_SET).values(whole=True, received_at=func.clock_timestamp())
DROP_PARTS = delete(inbound_part).where(OF_SET)
SETS = PART["carrier", "phone", "sender_id", "reference", "total"]
ALL_OVERDUE = select(*SETS).distinct().where(PART.received_at < func.statement_timestamp() - AWAITED)
OVERDUE = ALL_OVERDUE.order_by(*SETS).limit(SETS_PER_PAGE).offset(bindparam("kept", type_=Integer))
STILL_OVERDUE = ALL_OVERDUE.where(OF_SET)
DROP_WHOLE = delete(inbound_part).where(IS_OVER)


class PartSet(NamedTuple):
    """The values that all parts of a long message share, which identify the set."""

    carrier: str
    phone: str
    sent_to: str
    reference: int
    total: int

    def parameters(self) -> dict[str, object]:
        """The parameters of statements about the set."""
        return {f"of_{name}": value for name, value in self._asdict().items()}


def store(connection: Connection, carrier: str, messages: Sequence[Inbound]) -> None:
    """Store messages and apply STOP and START. Respond to the carrier only after the commit."""
    numbered = [_with_number(connection, each) for each in messages]
    ordered = sorted(numbered, key=lambda each: (each.phone, each.sent_to, each.reference or 0, each.total))
    for message in ordered:  # sorted, because each takes locks until the commit: prevents deadlocks
        possible = 1 <= message.number <= message.total <= MAX_PARTS
        if message.reference is None or message.reference > MAX_REFERENCE or not possible or message.total == 1:
            _keep(connection, carrier, message, 1, 0)
        else:
            _add_part(connection, carrier, message, message.reference)


def _with_number(connection: Connection, message: Inbound) -> Inbound:
    """The message with its sender's number and its destination's, as far as they can be read."""
    sent_to = number_sent_to(connection, message.sent_to)
    if not message.sent_to.startswith("+"):  # with which 1.0.0 stores parts, too
        message = replace(message, sent_to=sent_to)

    def country() -> str | None:
        found = (connection.execute(each, {"sent_to": sent_to}).one_or_none() for each in (OWNER, LAST_OWNER))
        return next((owner.country for owner in found if owner is not None), None)

    return replace(message, phone=sender_number(message, country))


def end_parts(engine: Engine) -> int:
    """Store messages whose missing parts have not arrived in time, without them. Returns their number."""
    with transaction(engine) as connection:
        connection.execute(DROP_WHOLE)
    ended, kept = 0, 0
    while True:
        with transaction(engine) as connection:
            overdue = [PartSet(*row) for row in connection.execute(OVERDUE, {"kept": kept})]
        ended_of_page = sum(_end_set(engine, each) for each in overdue)
        ended, kept = ended + ended_of_page, kept + len(overdue) - ended_of_page
        if len(overdue) < SETS_PER_PAGE:
            return ended


def _end_set(engine: Engine, key: PartSet) -> bool:
    """Store an overdue message as it is. Returns False if it has just been completed, or cannot be decrypted."""
    try:
        with transaction(engine) as connection:
            connection.execute(LOCK_SET, key.parameters())
            if connection.execute(STILL_OVERDUE, key.parameters()).first() is None:
                return False
            _finish_set(connection, key, connection.execute(PARTS, key.parameters()).all())
    except (TextKeyMissing, TextUnreadable, UnicodeDecodeError) as error:  # the others must not wait for this one
        reason = error if isinstance(error, TextKeyMissing) else "it was changed, or belongs to another message"
        log.error("an incomplete message from the carrier %s cannot be read: %s", key.carrier, reason)
        return False
    return True


def _add_part(connection: Connection, carrier: str, part: Inbound, reference: int) -> None:
    """Store a part, and the message too if this was its last missing part."""
    key = PartSet(carrier, part.phone, part.sent_to, reference, part.total)
    connection.execute(LOCK_SET, key.parameters())
    stored = connection.execute(PARTS, key.parameters()).all()
    new = part_of(part)
    existing = next((row for row in stored if row.number == part.number), None)
    if existing is not None and not existing.over and _opened(connection, key, existing) == new:
        return
    if existing is not None or any(row.whole for row in stored):
        _finish_set(connection, key, stored)
        stored = []
    octets = seal_part(texts_of(connection), key, part.number, new.content)
    values = {"carrier": carrier, "phone": part.phone, "sender_id": part.sent_to, "reference": reference}
    content = {"number": part.number, "text": octets, "charset": new.charset}
    connection.execute(ADD_PART, {**values, "total": part.total, **content})
    if len(stored) + 1 == part.total:
        _keep_set(connection, key, {row.number: _opened(connection, key, row) for row in stored} | {part.number: new})
        connection.execute(MARK_WHOLE, key.parameters())


def _finish_set(connection: Connection, key: PartSet, stored: Sequence[Any]) -> None:
    """Stop waiting for parts: store an incomplete message as it is, and delete its parts."""
    if stored and not stored[0].whole:
        _keep_set(connection, key, {row.number: _opened(connection, key, row) for row in stored})
    connection.execute(DROP_PARTS, key.parameters())


def _opened(connection: Connection, key: PartSet, row: Any) -> Part:
    return Part(open_part(texts_of(connection), key, row.number, bytes(row.text)), row.charset)


def seal_part(texts: Texts, key: PartSet, number: int, content: str) -> bytes:
    """A part's content as stored in its row."""
    return texts.seal(content, _name(key, number)).encode("utf-16-be", "surrogatepass")


def open_part(texts: Texts, key: PartSet, number: int, stored: bytes) -> str:
    """The content stored in a part's row. Raises TextKeyMissing or TextUnreadable."""
    return texts.open(stored.decode("utf-16-be", "surrogatepass"), _name(key, number))


def _name(key: PartSet, number: int) -> str:
    return "\x1f".join(map(str, (*key, number)))


def _keep_set(connection: Connection, key: PartSet, parts: dict[int, Part]) -> None:
    message = Inbound(key.phone, key.sent_to, join(parts))
    _keep(connection, key.carrier, message, key.total, key.total - len(parts))


def _keep(connection: Connection, carrier: str, message: Inbound, segments: int, missing: int) -> None:
    """Store a message for the account with the number it was sent to as a sender ID, or else for the operator.

    Then an opt-out counts for the account that had the number last: it has sent from it, and may send from others.
    """
    sent_to = message.sent_to.removeprefix("+")
    account = connection.execute(OWNER, {"sent_to": sent_to}).scalar()
    content = storable(message.text)
    phone = message.phone.removeprefix("+")
    keyword = keyword_of(content, sent_to, phone)
    if missing:  # what is left of the text is certain about nothing
        keyword = None if keyword in (None, Keyword.START) else Keyword.POSSIBLE_STOP
    inbound_id = new_id()
    sealed = texts_of(connection).seal(content, inbound_id)
    values = {
        "id": inbound_id,
        "account_id": account,
        "carrier": carrier,
        "identity": message.identity,
        "phone": phone,
        "sender_id": sent_to,
        "message": sealed,
        "segments": segments,
        "missing": missing,
        "keyword": keyword,
    }
    if connection.execute(KEEP, values).one_or_none() is None:
        return
    if account is not None:
        report(connection, account, inbound_id, phone, sent_to, sealed, keyword)
    elif keyword in (Keyword.STOP, Keyword.POSSIBLE_STOP) and is_phone(phone):
        last = connection.execute(LAST_OWNER, {"sent_to": sent_to}).scalar()
        if last is not None:
            _apply_keyword(connection, last, keyword, phone)


def report(
    connection: Connection,
    account: int,
    inbound_id: UUID,
    phone: str,
    sent_to: str,
    message: str,
    keyword: str | None,
) -> None:
    """Report a message to the account by an event, and apply STOP or START. `message` is as it is stored."""
    data = {"phone": phone, "sender_id": sent_to, "message": message, "keyword": keyword}
    outbox.add(connection, account, EventType.MESSAGE_RECEIVED, {"inbound_id": str(inbound_id), **data})
    if keyword is not None and is_phone(phone):
        _apply_keyword(connection, account, Keyword(keyword), phone)


def _apply_keyword(connection: Connection, account: int, keyword: Keyword, phone: str) -> None:
    """Apply an opt-out or opt-in. While an opt-out is only possible, the phone gets no marketing."""
    if keyword is Keyword.POSSIBLE_STOP:
        opted_out = connection.execute(HAS_OPTED_OUT, {"account": account, "phone": int(phone)}).scalar()
        if not opted_out and suppress(connection, account, phone, POSSIBLE, UNDECIDED):
            report_suppressed(connection, account, 1, phone, POSSIBLE, UNDECIDED)
        return
    for spelling in spellings(int(phone)):
        statement = OPT_IN if keyword is Keyword.START else DECIDE
        connection.execute(statement, {"account": account, "phone": spelling})
    if keyword is Keyword.STOP and suppress(connection, account, phone, BY_STOP):
        report_suppressed(connection, account, 1, phone, BY_STOP, EVERYTHING)


def storable(content: str) -> str:
    """The text in a form that can be stored: surrogate pairs joined; lone surrogates, NUL and MARK replaced."""
    joined = content.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    return joined.replace("\0", "\ufffd").replace(MARK, "\ufffd")
