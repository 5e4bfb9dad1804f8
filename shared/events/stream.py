"""Reads an account's events in order, in the form that webhooks and the API share.

Events are ordered by transaction. Only rows of transactions older than the oldest open one are read, because no earlier
event can still appear before them. A row may stand for several messages, which are events in the order of their
indexes. A position in the stream is the transaction id and the id of the last event read.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import JSON, Connection, Label, Row, bindparam, literal_column, select, text

from shared.carriers.error_codes import carrier_code_of, code_of, error_of
from shared.db.encryption_keys import texts_of
from shared.db.expressions import in_parameter
from shared.db.tables import events as tables
from shared.db.tables.messages import message
from shared.db.tables.sends import batch, send
from shared.encryption import Texts
from shared.ids import FIRST_ID, batch_of, index_of, message_id, rfc3339
from shared.lifecycle import STORED_STATUSES, EventType, MessageStatus, SendState
from shared.privacy.erasures import ERASED_PHONE
from shared.sends.recipient_references import OWN_REFERENCES, own_reference

MAX_ROWS = 2_000
"""Maximum number of rows read for one page, including those of other types."""
END_OF_ROW = 0xFFFF
"""An index behind all events of a row."""
_SEQUENCE = {str(status): number for number, status in enumerate(MessageStatus)}

OLDEST_OPEN_XID = "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"
"""SQL: no event of an earlier transaction can still appear."""
UNREAD = """e.account_id = {reader}.account_id AND (e.xid, e.id) >= ({reader}.xid, batch_of({reader}.event_id))
        AND (e.id <> batch_of({reader}.event_id) OR right(CAST({reader}.event_id AS text), 4) <> 'ffff')"""
"""SQL: event `e` has one behind the position of a reader, which is a webhook or an SMPP credential."""
LEASE = timedelta(seconds=10)
"""Of a reader; renewed while a page is delivered. This long after a process dies, another takes over."""
LEASED = "{reader}.lease_until BETWEEN clock_timestamp() AND clock_timestamp() + interval '2 minutes'"
"""SQL: a reader is leased. A lease that ends later is from before the clock of the database was set back."""

PAGE = text(
    f"""
    SELECT id, xid, type, send_id, batch_id, wanted, size, CASE WHEN wanted THEN indexes END AS indexes, error, data, at
      FROM (SELECT *, sum(CASE WHEN wanted THEN size ELSE 0 END) OVER (ORDER BY xid, id) AS events
              FROM (SELECT *, coalesce(cardinality(indexes), 1) AS size,
                           CAST(:types AS text[]) IS NULL OR type = ANY(CAST(:types AS text[])) AS wanted
                      FROM event
                     WHERE account_id = :account AND (xid, id) >= (:xid, CAST(:row AS uuid)) AND xid < {OLDEST_OPEN_XID}
                     ORDER BY xid, id LIMIT :rows) AS looked_at) AS counted
     WHERE events - CASE WHEN wanted THEN size ELSE 0 END < :most
     ORDER BY xid, id
    """
)
"""Reads rows in order, up to those in which the page's last event is, and no row of a transaction that may still get
others before it. One statement, so that both hold for the same snapshot; the indexes of other types are not read."""

OWN: Label[Any] = literal_column(OWN_REFERENCES.format(batch="batch"), JSON).label("own_references")
BATCHES = select(*batch.c["id", "recipients"], OWN).where(in_parameter(batch.c.id, "ids"))
CARRIERS = select(*message.c["id", "carrier"]).where(in_parameter(message.c.id, "ids"))
SENDS = select(
    *send.c["id", "kind", "sender_id", "reference", "metadata", "test", "held_reason", "callback_url", "traceparent"],
    *send.c["dlr_mask", "created_at", "completed_at", "accepted", "api_key_id", "smpp"],
    *(send.c[status] for status in STORED_STATUSES),
).where(in_parameter(send.c.id, "ids"))
EVENTS = tables.event.c
FIND = select(EVENTS.xid).where(EVENTS.id == bindparam("row"), EVENTS.account_id == bindparam("account"))
THESE = select(
    *EVENTS["id", "xid", "type", "send_id", "batch_id", "indexes", "error", "data", "at"],
).where(EVENTS.account_id == bindparam("account"), in_parameter(EVENTS.id, "rows"))
FLUSH = text("SELECT pg_logical_emit_message(true, 'bulksms', 'read')")
"""Writes to the log of the database: a transaction that only read would commit without waiting for the disk."""


class Position(NamedTuple):
    """A position in a stream: the event `id` of the transaction `xid` and everything before it have been read."""

    xid: int
    id: UUID


START = Position(0, FIRST_ID)


class Event(NamedTuple):
    """An event. Its `id` is the same for every delivery and reader."""

    id: UUID
    type: str
    at: datetime
    data: dict[str, Any]
    position: Position
    send: Row[Any] | None
    """The columns of SENDS, of the send that it is about."""

    def as_dict(self) -> dict[str, Any]:
        """The payload of a webhook; entries of the stream also have the id."""
        return {"type": self.type, "timestamp": rfc3339(self.at), "data": self.data}


@dataclass(slots=True)
class Page:
    """Events after a position. `end` is the position after them and after skipped events of other types."""

    events: list[Event] = field(default_factory=list)
    end: Position = START
    more: bool = False
    """Whether there may be more events after `end`."""


def read_page(
    connection: Connection, account: int, after: Position, limit: int, types: Collection[str] | None = None
) -> Page:
    """Up to `limit` events of the account after a position, of the given types or all."""
    rows = connection.execute(
        PAGE,
        {
            "account": account,
            "xid": after.xid,
            "row": after.id if index_of(after.id) == END_OF_ROW else batch_of(after.id),
            "types": None if types is None else list(types),
            "rows": MAX_ROWS,
            "most": limit + 2 + index_of(after.id) % END_OF_ROW,
        },
    ).all()
    page = Page(end=after)
    events_of = _event_reader(connection, [row for row in rows if row.wanted])
    for row in rows:
        if not row.wanted:
            page.end = Position(row.xid, message_id(row.id, END_OF_ROW))
            continue
        for event in events_of(row):
            if event.position <= after:
                continue
            if len(page.events) == limit:
                page.more = True
                return page
            page.events.append(event)
            page.end = event.position
        page.end = Position(row.xid, message_id(row.id, END_OF_ROW))
    page.more = len(rows) == MAX_ROWS
    return page


def read_events(connection: Connection, account: int, ids: Collection[UUID]) -> list[Event]:
    """The account's events with these ids, except those deleted or erased."""
    rows = connection.execute(THESE, {"account": account, "rows": list({batch_of(event) for event in ids})}).all()
    events_of, wanted = _event_reader(connection, rows), set(ids)
    return [event for row in rows for event in events_of(row) if event.id in wanted]


def _event_reader(connection: Connection, rows: Sequence[Row[Any]]) -> Callable[[Row[Any]], Iterator[Event]]:
    """Return a function that yields the events of a row, with the sends, batches and carriers of all rows preloaded."""
    sends = {row.id: row for row in _rows(connection, SENDS, {row.send_id for row in rows if row.send_id})}
    batches = {row.id: row for row in _rows(connection, BATCHES, {row.batch_id for row in rows if row.batch_id})}
    firsts = {_first_message(row) for row in rows if row.indexes and code_of(_status_of(row), row.error) is not None}
    carriers = {row.id: row.carrier for row in _rows(connection, CARRIERS, firsts)}
    texts = texts_of(connection)

    def events_of(row: Row[Any]) -> Iterator[Event]:
        carrier = carriers.get(_first_message(row)) if row.indexes else None
        return _events(row, sends.get(row.send_id), batches.get(row.batch_id), texts, carrier)

    return events_of


def _first_message(row: Row[Any]) -> UUID:
    """The first message of a row, whose carrier is that of all: messages that fail together have the same one."""
    return message_id(row.batch_id, row.indexes[0])


def _status_of(row: Row[Any]) -> str:
    return str(row.type.partition(".")[2])


def _rows(connection: Connection, statement: Any, ids: set[UUID]) -> list[Row[Any]]:
    return list(connection.execute(statement, {"ids": list(ids)}).all()) if ids else []


def find(connection: Connection, account: int, event: UUID) -> Position | None:
    """The position of an event of the account; None if it does not exist or was deleted."""
    xid = connection.execute(FIND, {"row": batch_of(event), "account": account}).scalar()
    return None if xid is None else Position(int(xid), event)


def flush(connection: Connection) -> None:
    """Make the events that this transaction has read durable with its commit, which must itself be durable.

    Events are committed asynchronously, but one that a client has seen must not disappear.
    """
    connection.execute(FLUSH)


def _events(
    row: Row[Any], send: Row[Any] | None, batch: Row[Any] | None, texts: Texts, carrier: str | None
) -> Iterator[Event]:
    if row.indexes is None:
        data = row.data if send is None else {**_of_send(row, send), **(row.data or {})}
        if row.type == EventType.MESSAGE_RECEIVED:
            data = {**data, "message": texts.open(data["message"], data["inbound_id"])}
        yield Event(row.id, row.type, row.at, data or {}, Position(row.xid, row.id), send)
        return
    common = _of_messages(row, send, carrier)
    phones = [] if batch is None else batch.recipients.split("\n")
    for number, index in enumerate(row.indexes):
        data = {"message_id": str(message_id(row.batch_id, index)), **common}
        phone = phones[index - 1] if index <= len(phones) else ""
        data["phone"] = None if phone in ("", ERASED_PHONE) else phone
        data["reference"] = (batch and own_reference(batch.own_references, index)) or common["reference"]
        identifier = message_id(row.id, number)
        yield Event(identifier, row.type, row.at, data, Position(row.xid, identifier), send)


def _of_messages(row: Row[Any], send: Row[Any] | None, carrier: str | None) -> dict[str, Any]:
    status = _status_of(row)
    return {
        "send_id": str(row.send_id),
        "phone": None,
        "status": status,
        "sequence": _SEQUENCE[status],
        "error": carrier_code_of(status, row.error) or row.error,
        "error_details": error_of(status, row.error, carrier),
        "sender_id": send and send.sender_id,
        "reference": send and send.reference,
        "metadata": send and send.metadata,
        "test": bool(send and send.test),
    }


def _of_send(row: Row[Any], send: Row[Any]) -> dict[str, Any]:
    """The current state of a send."""
    status = _status_of(row)
    return {
        "send_id": str(send.id),
        "status": status,
        "kind": send.kind,
        "sender_id": send.sender_id,
        "counts": {"accepted": send.accepted, **{str(status): getattr(send, status) for status in STORED_STATUSES}},
        "held_reason": send.held_reason if status == SendState.HELD else None,
        "reference": send.reference,
        "metadata": send.metadata,
        "test": send.test,
        "created_at": rfc3339(send.created_at),
        "completed_at": send.completed_at and rfc3339(send.completed_at),
    }


def encode(event: dict[str, Any]) -> bytes:
    """Encode a payload for signing and posting: JSON in UTF-8."""
    return json.dumps(event, separators=(",", ":"), default=str).encode()
