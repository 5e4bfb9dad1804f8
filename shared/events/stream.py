"""Reads events in their order, and tells each of them as webhooks and pullers get it.

The order is that of transactions: of rows whose transaction is below the oldest that is still open no earlier one can
come any more. Within a row, messages follow by their place. An account's position in its stream is the transaction's
number and the id of the last event that was read.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, text

from shared.carriers.error_codes import carrier_code_of, code_of, error_of
from shared.db.encryption_keys import texts_of
from shared.encryption import Texts
from shared.ids import batch_of, index_of, message_id
from shared.lifecycle import STORED, MessageStatus
from shared.outbox import EventType
from shared.privacy.erasures import ERASED

MAX_ROWS = 2_000
"""Rows that are looked at for one page, whatever is wanted of them."""
LAST_PLACE = 0xFFFF
"""A place behind all events of a row."""
_SEQUENCE = {str(status): number for number, status in enumerate(MessageStatus)}

SETTLED = "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"

PAGE = text(
    f"""
    SELECT id, xid, type, send_id, batch_id, wanted, size, CASE WHEN wanted THEN indexes END AS indexes, error, data, at
      FROM (SELECT *, sum(CASE WHEN wanted THEN size ELSE 0 END) OVER (ORDER BY xid, id) AS events
              FROM (SELECT *, coalesce(cardinality(indexes), 1) AS size,
                           CAST(:types AS text[]) IS NULL OR type = ANY(CAST(:types AS text[])) AS wanted
                      FROM event
                     WHERE account_id = :account AND (xid, id) >= (:xid, CAST(:row AS uuid)) AND xid < {SETTLED}
                     ORDER BY xid, id LIMIT :rows) AS looked_at) AS counted
     WHERE events - CASE WHEN wanted THEN size ELSE 0 END < :most
     ORDER BY xid, id
    """
)

BATCHES = text("SELECT id, recipients FROM batch WHERE id = ANY(:ids)")

CARRIERS = text("SELECT id, carrier FROM message WHERE id = ANY(:ids)")

SENDS = text(
    """
    SELECT id, kind, sender_id, reference, metadata, test, held_reason, callback_url, created_at, completed_at,
           accepted,
    """
    + ", ".join(STORED)
    + " FROM send WHERE id = ANY(:ids)"
)

FIND = text("SELECT xid FROM event WHERE id = :row AND account_id = :account")

THESE = text(
    """
    SELECT id, xid, type, send_id, batch_id, indexes, error, data, at FROM event
     WHERE account_id = :account AND id = ANY(:rows)
    """
)

FLUSH = text("SELECT pg_logical_emit_message(true, 'bulksms', 'read')")


class Position(NamedTuple):
    """How far a stream was read: the event `id` of the transaction `xid`, and all before it."""

    xid: int
    id: UUID


START = Position(0, UUID(int=0))


class Event(NamedTuple):
    """One event. `id` is the same whenever and wherever it is told."""

    id: UUID
    type: str
    at: datetime
    data: dict[str, Any]
    position: Position
    callback_url: str | None

    def as_dict(self) -> dict[str, Any]:
        """What a webhook's payload is, and an entry of the stream but for its id."""
        return {"type": self.type, "timestamp": stamp(self.at), "data": self.data}


@dataclass(slots=True)
class Page:
    """Events after a position, and how far they lead: `end` is past those that were not wanted, too."""

    events: list[Event] = field(default_factory=list)
    end: Position = START
    more: bool = False
    """Whether there is more to look at behind `end`."""


def read_page(
    connection: Connection, account: int, after: Position, most: int, types: Collection[str] | None = None
) -> Page:
    """Up to `most` events of the account behind the position, of these types, or of all."""
    rows = connection.execute(
        PAGE,
        {
            "account": account,
            "xid": after.xid,
            "row": after.id if index_of(after.id) == LAST_PLACE else batch_of(after.id),
            "types": None if types is None else list(types),
            "rows": MAX_ROWS,
            "most": most + 2 + index_of(after.id) % LAST_PLACE,
        },
    ).all()
    page = Page(end=after)
    events_of = _teller(connection, [row for row in rows if row.wanted])
    for row in rows:
        if not row.wanted:
            page.end = Position(row.xid, message_id(row.id, LAST_PLACE))
            continue
        for event in events_of(row):
            if event.position <= after:
                continue
            if len(page.events) == most:
                page.more = True
                return page
            page.events.append(event)
            page.end = event.position
        page.end = Position(row.xid, message_id(row.id, LAST_PLACE))
    page.more = len(rows) == MAX_ROWS
    return page


def read_events(connection: Connection, account: int, ids: Collection[UUID]) -> list[Event]:
    """The account's events with these ids, as far as they are still kept."""
    rows = connection.execute(THESE, {"account": account, "rows": list({batch_of(event) for event in ids})}).all()
    events_of, wanted = _teller(connection, rows), set(ids)
    return [event for row in rows for event in events_of(row) if event.id in wanted]


def _teller(connection: Connection, rows: Sequence[Row[Any]]) -> Callable[[Row[Any]], Iterator[Event]]:
    """Tells the events of each of the rows, with what is known of their sends and batches."""
    sends = {row.id: row for row in _found(connection, SENDS, {row.send_id for row in rows if row.send_id})}
    batches = {row.id: row for row in _found(connection, BATCHES, {row.batch_id for row in rows if row.batch_id})}
    firsts = {_first_message(row) for row in rows if row.indexes and code_of(_status_of(row), row.error) is not None}
    carriers = {row.id: row.carrier for row in _found(connection, CARRIERS, firsts)}
    texts = texts_of(connection)

    def events_of(row: Row[Any]) -> Iterator[Event]:
        carrier = carriers.get(_first_message(row)) if row.indexes else None
        return _events(row, sends.get(row.send_id), batches.get(row.batch_id), texts, carrier)

    return events_of


def _first_message(row: Row[Any]) -> UUID:
    """One of the row's messages: those that failed together had one carrier."""
    return message_id(row.batch_id, row.indexes[0])


def _status_of(row: Row[Any]) -> str:
    return str(row.type.partition(".")[2])


def _found(connection: Connection, statement: Any, ids: set[UUID]) -> list[Row[Any]]:
    return list(connection.execute(statement, {"ids": list(ids)}).all()) if ids else []


def find(connection: Connection, account: int, event: UUID) -> Position | None:
    """The position of an event of the account; None when there is none, or none any more."""
    xid = connection.execute(FIND, {"row": batch_of(event), "account": account}).scalar()
    return None if xid is None else Position(int(xid), event)


def flush(connection: Connection) -> None:
    """Let the connection's commit, which must be durable, bring to the disk what it has read.

    Events are written by commits that do not wait for the disk. Whoever was told of one must find it again.
    """
    connection.execute(FLUSH)


def _events(
    row: Row[Any], send: Row[Any] | None, batch: Row[Any] | None, texts: Texts, carrier: str | None
) -> Iterator[Event]:
    callback = None if send is None else send.callback_url
    if row.indexes is None:
        data = row.data if send is None else {**_of_send(row, send), **(row.data or {})}
        if row.type == EventType.MESSAGE_RECEIVED:
            data = {**data, "message": texts.open(data["message"], data["inbound_id"])}
        yield Event(row.id, row.type, row.at, data or {}, Position(row.xid, row.id), callback)
        return
    common = _of_messages(row, send, carrier)
    phones = (
        [] if batch is None else [None if phone in ("", ERASED) else phone for phone in batch.recipients.split("\n")]
    )
    for number, index in enumerate(row.indexes):
        data = {"message_id": str(message_id(row.batch_id, index)), **common}
        phone = phones[index - 1] if index <= len(phones) else None
        data["phone"] = None if phone == ERASED else phone or None
        identifier = message_id(row.id, number)
        yield Event(identifier, row.type, row.at, data, Position(row.xid, identifier), callback)


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
    """A send as it is when it is told."""
    return {
        "send_id": str(send.id),
        "status": _status_of(row),
        "kind": send.kind,
        "sender_id": send.sender_id,
        "counts": {"accepted": send.accepted, **{str(status): getattr(send, status) for status in STORED}},
        "held_reason": send.held_reason,
        "reference": send.reference,
        "metadata": send.metadata,
        "test": send.test,
        "created_at": stamp(send.created_at),
        "completed_at": send.completed_at and stamp(send.completed_at),
    }


def encode(event: dict[str, Any]) -> bytes:
    """A payload as it is signed and posted: JSON in UTF-8."""
    return json.dumps(event, separators=(",", ":"), default=str).encode()


def stamp(moment: datetime) -> str:
    """A time as the API writes it: RFC 3339, UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
