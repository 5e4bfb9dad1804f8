"""Search the messages of an account, or of all, newest send first, and in order within a send.

Filters without an index scan a bounded number of sends, batches and messages. A page that reaches a bound ends there
with fewer entries than `limit`, and its cursor continues after it. Sends without messages of the requested status, by
their counters, are skipped.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, bindparam, select, text

from api.http.pagination import bad_cursor, from_cursor, to_cursor
from api.resources.messages.history import (
    FROM_BATCH,
    OF_ACCOUNT,
    SENDS,
    MessageRow,
    batches_in_order,
    messages_of_batch,
)
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import WITH_ERROR, code_of
from shared.db.tables import sends as tables
from shared.ids import FIRST_ID, LAST_ID, batch_of, first_id_at, message_id
from shared.lifecycle import STORED_STATUSES, MessageStatus
from shared.sms.countries import PREFIX_DIGITS, country_of

MAX_SENDS, MAX_BATCHES, MAX_MESSAGES = 10_000, 1_000, 10_000
"""Maximum numbers examined for one page."""
BELOW = "below:"
"""Prefix of a cursor that continues with the sends before one; other cursors name the last message examined."""

SENDS_READ = tables.send.c
OLDEST_SEND = (
    select(SENDS_READ.id)
    .where(SENDS_READ.id >= bindparam("since"), SENDS_READ.id < bindparam("until"), SENDS_READ.id <= bindparam("send"))
    .order_by(SENDS_READ.id.desc())
    .offset(bindparam("most"))
    .limit(1)
)
OLDEST_SEND_OF_ACCOUNT = OLDEST_SEND.where(SENDS_READ.account_id == bindparam("account"))
BATCHES_READ = f"""
    SELECT s.id AS send_id, b.id FROM send s JOIN batch b ON b.send_id = s.id
     WHERE s.forgotten_at IS NULL AND {SENDS} AND {FROM_BATCH}
"""
TO_LAST = "ORDER BY s.id DESC, b.id OFFSET :most LIMIT 1"
LAST_BATCH, LAST_BATCH_OF_ACCOUNT = (
    text(f"{BATCHES_READ} {TO_LAST}"),
    text(f"{BATCHES_READ} AND {OF_ACCOUNT} {TO_LAST}"),
)
"""The last batch that a search may read, with the conditions of BATCHES."""
SEND_OF = select(tables.batch.c.send_id).where(tables.batch.c.id == bindparam("batch"))
SEND_OF_ACCOUNT = SEND_OF.where(tables.batch.c.account_id == bindparam("account"))


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Filters on a message's own properties; None matches any value."""

    status: str | None = None
    phone: str | None = None
    error: str | None = None
    permanent: bool | None = None
    carrier: str | None = None
    country: str | None = None

    def statuses(self) -> dict[str, Any]:
        """The statuses of messages that match, as parameters of BATCHES.

        Either all or none of them are `unfinished`, the statuses of messages without a result.
        """
        statuses: Collection[MessageStatus] | None = None
        if self.status is not None:
            statuses = [MessageStatus(self.status)]
        elif self.error is not None or self.permanent is not None:
            statuses = WITH_ERROR
        elif self.carrier is not None:
            statuses = STORED_STATUSES
        return {
            "statuses": None if statuses is None else [str(status) for status in statuses],
            "unfinished": statuses is not None and not set(statuses) & set(STORED_STATUSES),
        }

    def fits(self, message: MessageRow) -> bool:
        """Whether the message matches the filters."""
        if self.status not in (None, message.status) or self.phone not in (None, message.phone):
            return False
        if self.carrier not in (None, message.carrier):
            return False
        if self.country not in (None, message.phone and country_of(message.phone[:PREFIX_DIGITS])):
            return False
        if self.error is None and self.permanent is None:
            return True
        code = code_of(message.status, message.error)
        return code is not None and self.error in (None, code) and self.permanent in (None, CATALOGUE[code].permanent)


class MessagePage(NamedTuple):
    """A page of messages, and the cursor of the next page; None on the last page."""

    messages: list[MessageRow]
    next_cursor: str | None


def find_messages(
    connection: Connection, account: int | None, query: dict[str, Any], send: UUID | None = None
) -> MessagePage:
    """A page of the account's messages, or of one of its sends; without an account, of all accounts.

    Raises Problem for an invalid cursor.
    """
    begin, after = _start(connection, account, query.get("cursor"))
    filters = MessageFilter(**{name: query[name] for name in MessageFilter.__slots__ if name in query})
    values: dict[str, Any] = {
        "account": account,
        "reference": query.get("reference"),
        "group": query.get("group_id"),
        "phone": filters.phone,
        "send": begin,
        "batch": batch_of(after),
        "last_send": FIRST_ID,
        "last_batch": FIRST_ID,
        **_period(query, send),
        **filters.statuses(),
    }
    oldest_send = OLDEST_SEND if account is None else OLDEST_SEND_OF_ACCOUNT
    oldest = connection.execute(oldest_send, {**values, "most": MAX_SENDS}).scalar()
    end = None
    if oldest is not None:
        values["since"], end = UUID(int=oldest.int + 1), to_cursor(f"{BELOW}{oldest}")
    if filters.phone is not None:
        last_batch = LAST_BATCH if account is None else LAST_BATCH_OF_ACCOUNT
        last = connection.execute(last_batch, {**values, "most": MAX_BATCHES}).one_or_none()
        if last is not None:
            values |= {"last_send": last.send_id, "last_batch": last.id}
            end = to_cursor(str(last.id))
    return _page(connection, values, filters, after, query["limit"], end)


def _period(query: dict[str, Any], send: UUID | None) -> dict[str, UUID]:
    """The first send to read, and the end of those to read."""
    since = first_id_at(query["since"]) if "since" in query else FIRST_ID
    until = first_id_at(query["until"]) if "until" in query else LAST_ID
    if send is not None:
        since, until = max(since, send), UUID(int=min(until.int, send.int + 1))
    return {"since": since, "until": until}


def _page(
    connection: Connection, values: dict[str, Any], filters: MessageFilter, after: UUID, limit: int, end: str | None
) -> MessagePage:
    matches: list[MessageRow] = []
    examined = batches = 0
    for row in batches_in_order(connection, values):
        messages = [
            each
            for each in messages_of_batch(connection, row, filters.phone)
            if row.id != batch_of(after) or each.id > after
        ]
        matching = list(filter(filters.fits, messages))
        matches += matching
        if len(matches) > limit:
            return MessagePage(matches[:limit], to_cursor(str(matches[limit - 1].id)))
        examined, batches = examined + len(messages), batches + bool(messages)
        if examined >= MAX_MESSAGES or batches >= MAX_BATCHES:
            return MessagePage(matches, to_cursor(str(message_id(row.id, row.size))))
    return MessagePage(matches, end)


def _start(connection: Connection, account: int | None, cursor: str | None) -> tuple[UUID, UUID]:
    """The newest send to read, and the message after which the page begins. Raises Problem for an invalid cursor."""
    if cursor is None:
        return LAST_ID, FIRST_ID
    position = from_cursor(cursor)
    try:
        id = UUID(position.removeprefix(BELOW))
    except ValueError:
        raise bad_cursor() from None
    if position.startswith(BELOW):
        return id, FIRST_ID
    send_of = SEND_OF if account is None else SEND_OF_ACCOUNT
    send: UUID | None = connection.execute(send_of, {"batch": batch_of(id), "account": account}).scalar()
    return (FIRST_ID if send is None else send), id
