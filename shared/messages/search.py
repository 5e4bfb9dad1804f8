"""Search the messages of an account, or of all, newest send first, and in order within a send.

Filters without an index scan a bounded number of sends, batches and messages. A page that reaches a bound ends there
with fewer entries than `limit`, and says where to go on. Sends without messages of the requested status, by their
counters, are skipped.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, bindparam, select, text

from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import WITH_ERROR, code_of
from shared.db.tables import sends as tables
from shared.ids import FIRST_ID, LAST_ID, batch_of, first_id_at, index_of, message_id
from shared.lifecycle import LANES, STORED_STATUSES, Category, MessageStatus
from shared.messages.history import (
    FROM_BATCH,
    OF_ACCOUNT,
    SENDS,
    MessageRow,
    batch_in_sight,
    batches_in_order,
    messages_of_batch,
)
from shared.sms.countries import PREFIX_DIGITS, country_of

MAX_SENDS, MAX_BATCHES, MAX_MESSAGES = 10_000, 1_000, 10_000
"""Maximum numbers examined for one page."""
BELOW, OWN = "below:", "own:"
"""Prefixes of a position that goes on with the sends before one, and with the recipients that have the reference before
one message; other positions name the last message examined."""

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
REFERENCES = tables.recipient_reference.c
REFERENCED = (
    select(REFERENCES.message_id)
    .where(REFERENCES.account_id == bindparam("account"), REFERENCES.reference == bindparam("reference"))
    .where(REFERENCES.message_id < bindparam("before"))
    .order_by(REFERENCES.message_id.desc())
    .limit(bindparam("limit"))
)
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
    category: str | None = None
    without_own: str | None = None
    """Leaves out messages whose recipients have this reference."""

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
        if self.carrier not in (None, message.carrier) or self.category not in (None, message.category):
            return False
        if self.without_own is not None and message.own_reference == self.without_own:
            return False
        if self.country not in (None, message.phone and country_of(message.phone[:PREFIX_DIGITS])):
            return False
        if self.error is None and self.permanent is None:
            return True
        code = code_of(message.status, message.error)
        return code is not None and self.error in (None, code) and self.permanent in (None, CATALOGUE[code].permanent)


class BadPosition(ValueError):
    """A position that no page has ended at."""


class MessagePage(NamedTuple):
    """A page of messages, and where the next page goes on; None on the last page."""

    messages: list[MessageRow]
    end: str | None


def find_messages(
    connection: Connection, account: int | None, query: dict[str, Any], send: UUID | None = None
) -> MessagePage:
    """A page of the account's messages, or of one of its sends; without an account, of all accounts.

    `query` has the filters, the `limit`, and the `position` from which to go on. Of an account's messages with a
    `reference`, those whose recipients have it are found first, by an index; then those of sends that have it.

    Raises BadPosition.
    """
    filters = MessageFilter(**{name: query[name] for name in MessageFilter.__slots__ if name in query})
    position = query.get("position")
    if "reference" not in query or account is None:
        return _find_in_sends(connection, account, query, send, filters)
    first = MessagePage([], None)
    if position is None or position.startswith(OWN):
        first = _find_referenced(connection, account, query, send, filters)
        if first.end is not None:
            return first
        position = f"{BELOW}{LAST_ID}"
    left = query["limit"] - len(first.messages)
    if not left:
        return MessagePage(first.messages, position)
    filters = replace(filters, without_own=query["reference"])
    then = _find_in_sends(connection, account, {**query, "position": position, "limit": left}, send, filters)
    return MessagePage([*first.messages, *then.messages], then.end)


def _find_referenced(
    connection: Connection, account: int, query: dict[str, Any], send: UUID | None, filters: MessageFilter
) -> MessagePage:
    """The messages whose recipients have the reference, newest first: those among the next `limit` that match."""
    if "group_id" in query:
        return MessagePage([], None)  # a group's contacts have no references
    before, limit = _id(query.get("position") or str(LAST_ID)), query["limit"]
    values = {"account": account, "reference": query["reference"], "before": before, "limit": limit + 1}
    found = connection.execute(REFERENCED, values).scalars().all()
    period = _period(query, send)
    matches: list[MessageRow] = []
    for batch, ids in groupby(found[:limit], batch_of):
        row = batch_in_sight(connection, account, batch)
        if row is not None and period["since"] <= row.send_id < period["until"]:
            messages = messages_of_batch(connection, row, indexes=list(map(index_of, ids)))
            matches += filter(filters.fits, messages)
    return MessagePage(matches, f"{OWN}{found[limit - 1]}" if len(found) > limit else None)


def _find_in_sends(
    connection: Connection, account: int | None, query: dict[str, Any], send: UUID | None, filters: MessageFilter
) -> MessagePage:
    begin, after = _start(connection, account, query.get("position"))
    values: dict[str, Any] = {
        "account": account,
        "reference": query.get("reference"),
        "group": query.get("group_id"),
        "phone": filters.phone,
        "lane": None if filters.category is None else LANES.index(Category(filters.category)),
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
        values["since"], end = UUID(int=oldest.int + 1), f"{BELOW}{oldest}"
    if filters.phone is not None:
        last_batch = LAST_BATCH if account is None else LAST_BATCH_OF_ACCOUNT
        last = connection.execute(last_batch, {**values, "most": MAX_BATCHES}).one_or_none()
        if last is not None:
            values |= {"last_send": last.send_id, "last_batch": last.id}
            end = str(last.id)
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
            return MessagePage(matches[:limit], str(matches[limit - 1].id))
        examined, batches = examined + len(messages), batches + bool(messages)
        if examined >= MAX_MESSAGES or batches >= MAX_BATCHES:
            return MessagePage(matches, str(message_id(row.id, row.size)))
    return MessagePage(matches, end)


def _start(connection: Connection, account: int | None, position: str | None) -> tuple[UUID, UUID]:
    """The newest send to read, and the message after which the page begins. Raises BadPosition."""
    if position is None:
        return LAST_ID, FIRST_ID
    id = _id(position)
    if position.startswith(BELOW):
        return id, FIRST_ID
    send_of = SEND_OF if account is None else SEND_OF_ACCOUNT
    send: UUID | None = connection.execute(send_of, {"batch": batch_of(id), "account": account}).scalar()
    return (FIRST_ID if send is None else send), id


def _id(position: str) -> UUID:
    try:
        return UUID(position.removeprefix(BELOW).removeprefix(OWN))
    except ValueError:
        raise BadPosition(position) from None
