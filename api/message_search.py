"""Finds messages of an account by what is asked for, newest send first, within a send in order.

What has no index is looked for in a bounded number of sends, batches and messages; a page that reaches a bound ends
there, with fewer entries than were asked for, and its cursor goes on behind it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from api.history import MessageRow, batches_in_order, messages_of_batch
from api.paging import bad_cursor, from_cursor, to_cursor
from shared.countries import country_of
from shared.ids import batch_of, first_id_at, message_id
from shared.message_codes import code_of
from shared.message_errors import CATALOGUE

MOST_SENDS, MOST_BATCHES, MOST_MESSAGES = 10_000, 1_000, 20_000
"""That are looked at for one page."""
BELOW = "below:"
"""Begins a cursor that goes on with the sends before one; others name the last message that was looked at."""

SEND_CONDITIONS = """
    s.account_id = :account AND s.id >= :since AND s.id < :until
    AND (CAST(:reference AS text) IS NULL OR s.reference = :reference)
    AND (CAST(:group AS uuid) IS NULL OR s.group_id = :group)
    AND (s.id < :send OR s.id = :send AND b.id >= :batch)
"""
OLDEST_SEND = text(
    """
    SELECT id FROM send WHERE account_id = :account AND id >= :since AND id < :until AND id <= :send
     ORDER BY id DESC OFFSET :most LIMIT 1
    """
)
LAST_BATCH = text(
    f"""
    SELECT s.id AS send_id, b.id FROM send s JOIN batch b ON b.send_id = s.id
     WHERE s.forgotten_at IS NULL AND {SEND_CONDITIONS}
     ORDER BY s.id DESC, b.id OFFSET :most LIMIT 1
    """
)
BEFORE_LAST_BATCH = " AND (s.id > :last_send_of_page OR s.id = :last_send_of_page AND b.id < :last_batch_of_page)"
HOLDS_PHONE = " AND position(:phone IN b.recipients) > 0"
SEND_OF = text("SELECT send_id FROM batch WHERE id = :batch")
FIRST, LAST = UUID(int=0), UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """What is asked of a message itself; None asks nothing."""

    status: str | None = None
    phone: str | None = None
    error: str | None = None
    permanent: bool | None = None
    carrier: str | None = None
    country: str | None = None

    def fits(self, message: MessageRow) -> bool:
        """Whether the message is as asked."""
        if self.status not in (None, message.status) or self.phone not in (None, message.phone):
            return False
        if self.carrier not in (None, message.carrier):
            return False
        if self.country is not None and (message.phone is None or country_of(message.phone) != self.country):
            return False
        if self.error is None and self.permanent is None:
            return True
        code = code_of(message.status, message.error)
        return code is not None and self.error in (None, code) and self.permanent in (None, CATALOGUE[code].permanent)


class Found(NamedTuple):
    """A page of messages, and where the next one begins; None: there is none."""

    messages: list[MessageRow]
    next_cursor: str | None


def find_messages(connection: Connection, account: int, query: dict[str, Any]) -> Found:
    """A page of the account's messages. Raises Problem for a cursor that is none."""
    send, after = _start(connection, query.get("cursor"))
    values: dict[str, Any] = {
        "account": account,
        "since": first_id_at(query["since"]) if "since" in query else FIRST,
        "until": first_id_at(query["until"]) if "until" in query else LAST,
        "reference": query.get("reference"),
        "group": query.get("group_id"),
        "send": send,
        "batch": batch_of(after),
    }
    oldest = connection.execute(OLDEST_SEND, {**values, "most": MOST_SENDS}).scalar()
    if oldest is not None:
        values["since"] = UUID(int=oldest.int + 1)
    where, end = SEND_CONDITIONS, None if oldest is None else to_cursor(f"{BELOW}{oldest}")
    if "phone" in query:
        last = connection.execute(LAST_BATCH, {**values, "most": MOST_BATCHES}).one_or_none()
        where, values["phone"] = where + HOLDS_PHONE, query["phone"]
        if last is not None:
            where, end = where + BEFORE_LAST_BATCH, to_cursor(str(last.id))
            values |= {"last_send_of_page": last.send_id, "last_batch_of_page": last.id}
    asked = MessageFilter(**{name: query[name] for name in MessageFilter.__slots__ if name in query})
    return _page(connection, where, values, asked, after, query["limit"], end)


def _page(
    connection: Connection,
    where: str,
    values: dict[str, Any],
    asked: MessageFilter,
    after: UUID,
    limit: int,
    end: str | None,
) -> Found:
    found: list[MessageRow] = []
    looked_at = batches = 0
    for row in batches_in_order(connection, where, values):
        messages = [each for each in messages_of_batch(connection, row) if row.id != batch_of(after) or each.id > after]
        found += filter(asked.fits, messages)
        if len(found) > limit:
            return Found(found[:limit], to_cursor(str(found[limit - 1].id)))
        looked_at, batches = looked_at + len(messages), batches + bool(messages)
        if looked_at >= MOST_MESSAGES or batches >= MOST_BATCHES:
            return Found(found, to_cursor(str(message_id(row.id, row.size))))
    return Found(found, end)


def _start(connection: Connection, cursor: str | None) -> tuple[UUID, UUID]:
    """The newest send to look at, and the message of it after which the page begins. Raises Problem."""
    if cursor is None:
        return LAST, FIRST
    place = from_cursor(cursor)
    try:
        at = UUID(place.removeprefix(BELOW))
    except ValueError:
        raise bad_cursor() from None
    if place.startswith(BELOW):
        return at, FIRST
    send: UUID | None = connection.execute(SEND_OF, {"batch": batch_of(at)}).scalar()
    return (FIRST if send is None else send), at
