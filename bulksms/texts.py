"""Re-encrypts stored texts with the current key, after a change of keys or after encryption was turned on or off.

Runs beside the live service, page by page, each in its own transaction, and skips locked rows. Once no text depends on
another key, the database forgets the other keys.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Engine,
    LargeBinary,
    Row,
    Text,
    bindparam,
    cast,
    exists,
    func,
    literal,
    literal_column,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.connection import reading
from shared.db.encryption_keys import forget_keys, texts_of
from shared.db.tables.events import event
from shared.db.tables.inbound import inbound, inbound_part
from shared.db.tables.sends import batch, idempotency, send
from shared.encryption import MARK, Texts
from shared.inbound.store import PartSet, open_part, seal_part

PAGE: Final = 500
"""Rows that one statement looks at, whether they must be rewritten or not: it never takes long."""

PREFIX, OCTETS = bindparam("prefix", type_=Text), bindparam("octets", type_=LargeBinary)
"""How texts begin that are stored under the current key; without one, under any key. As text, and as UTF-16."""
IS_ENCRYPTED = bindparam("is_encrypted", type_=Boolean)
"""Whether there is a current key."""
EVENT_TEXT = func.json_extract_path_text(event.c.data, "message")
RESPONSE_TEXT = func.json_extract_path_text(cast(idempotency.c.response, JSON), "message")


class EncryptedColumn(NamedTuple):
    """A column that holds encrypted texts."""

    name: str
    column: Column[Any]
    has_text: ColumnElement[bool]
    """Whether a row holds a text."""
    has_prefix: ColumnElement[bool]
    """Whether the text begins with PREFIX."""
    rewritten: Callable[[Texts, Row[Any]], Any]
    """Returns the rewritten value of a row, which has the table's primary key and the column."""

    @property
    def key(self) -> list[Column[Any]]:
        """The primary key of the table."""
        return list(self.column.table.primary_key)

    @property
    def is_left(self) -> ColumnElement[bool]:
        """Whether a row must be rewritten."""
        return self.has_text & (self.has_prefix != IS_ENCRYPTED)


class Rewritten(NamedTuple):
    """Number of rewritten texts by column, whether any are left, and the keys still in use."""

    texts: dict[str, int]
    left: bool
    keys: list[str]


def _message(texts: Texts, row: Row[Any]) -> str:
    return texts.seal(texts.open(row.message, row.id), row.id)


def _values(texts: Texts, row: Row[Any]) -> str:
    return texts.seal_json(texts.open_json(row.variables, row.id), row.id)


def _of_smpp(texts: Texts, row: Row[Any]) -> str:
    part = texts.seal_json(texts.open_json(row.smpp["part"], row.id), row.id)
    return json.dumps({**row.smpp, "part": json.loads(part)})


def _part(texts: Texts, row: Row[Any]) -> bytes:
    key = PartSet(row.carrier, row.phone, row.sender_id, row.reference, row.total)
    return seal_part(texts, key, row.number, open_part(texts, key, row.number, bytes(row.text)))


def _event(texts: Texts, row: Row[Any]) -> str:
    inbound_id = row.data["inbound_id"]
    message = texts.open(row.data["message"], inbound_id)
    return json.dumps({**row.data, "message": texts.seal(message, inbound_id)})


def _response(texts: Texts, row: Row[Any]) -> str:
    document = json.loads(row.response)
    send_id = document["send_id"]
    document["message"] = texts.seal(texts.open(document["message"], send_id), send_id)
    return json.dumps(document, separators=(",", ":"))


ENCRYPTED_COLUMNS: Final = (
    EncryptedColumn("sends", send.c.message, send.c.message != "", func.starts_with(send.c.message, PREFIX), _message),
    EncryptedColumn(
        "parts over SMPP",
        send.c.smpp,
        send.c.smpp.has_key("part"),
        func.starts_with(send.c.smpp["part"].astext, PREFIX),
        _of_smpp,
    ),
    EncryptedColumn(
        "values of recipients",
        batch.c.variables,
        batch.c.variables != literal([], JSONB),
        func.starts_with(batch.c.variables.op("#>>")(literal_column("'{}'")), PREFIX),
        _values,
    ),
    EncryptedColumn(
        "messages received",
        inbound.c.message,
        inbound.c.message != "",
        func.starts_with(inbound.c.message, PREFIX),
        _message,
    ),
    EncryptedColumn(
        "events",
        event.c.data,
        (event.c.type == "message.received") & (EVENT_TEXT != ""),
        func.starts_with(EVENT_TEXT, PREFIX),
        _event,
    ),
    EncryptedColumn(
        "stored responses",
        idempotency.c.response,
        idempotency.c.path.regexp_match("/sends/[^/]+/(cancel|pause|resume)$") & (RESPONSE_TEXT != ""),
        func.starts_with(RESPONSE_TEXT, PREFIX),
        _response,
    ),
    EncryptedColumn(
        "parts of messages",
        inbound_part.c.text,
        true(),
        func.substr(inbound_part.c.text, 1, func.length(OCTETS)) == OCTETS,
        _part,
    ),
)


def rewrite(engine: Engine) -> Rewritten:
    """Rewrite every text that is not stored under the current key. Raises TextKeyMissing, TextUnreadable."""
    texts = texts_of(engine)
    written = {column.name: _rewrite(engine, texts, column) for column in ENCRYPTED_COLUMNS}
    left = any(_is_any_left(engine, texts, column) for column in ENCRYPTED_COLUMNS)
    with engine.begin() as connection:
        keys = texts.ids if left else forget_keys(connection, texts)
    return Rewritten(written, left, keys)


def _rewrite(engine: Engine, texts: Texts, column: EncryptedColumn) -> int:
    again = bindparam("again", type_=LargeBinary() if isinstance(column.column.type, LargeBinary) else Text())
    write = update(column.column.table).values({column.column: cast(again, column.column.type)})
    for part in column.key:
        write = write.where(part == bindparam(f"of_{part.name}"))
    rows_left = select(*column.key, column.column).where(column.is_left).with_for_update(skip_locked=True)
    written = 0
    for page in _pages(engine, column):
        with engine.begin() as connection:
            rows: Sequence[Any] = connection.execute(rows_left.where(page), _parameters(texts)).all()
            changed = [
                {f"of_{part.name}": getattr(row, part.name) for part in column.key}
                | {"again": column.rewritten(texts, row)}
                for row in rows
            ]
            if changed:
                connection.execute(write, changed)
        written += len(rows)
    return written


def _is_any_left(engine: Engine, texts: Texts, column: EncryptedColumn) -> bool:
    for page in _pages(engine, column):
        with reading(engine) as connection:
            if connection.execute(select(exists().where(column.is_left, page)), _parameters(texts)).scalar():
                return True
    return False


def _pages(engine: Engine, column: EncryptedColumn) -> Iterator[ColumnElement[bool]]:
    """The pages of a table, in the order of its primary key, as conditions. New rows have the current key."""
    key = tuple_(*column.key)
    after: ColumnElement[bool] = true()
    while True:
        with reading(engine) as connection:
            rows = connection.execute(select(*column.key).where(after).order_by(*column.key).limit(PAGE)).all()
        if not rows:
            return
        last = tuple(rows[-1])
        yield after & (key <= last)
        after = key > last


def _parameters(texts: Texts) -> dict[str, Any]:
    prefix = MARK if texts.current is None else f"{MARK}{texts.current}:"
    return {"prefix": prefix, "octets": prefix.encode("utf-16-be"), "is_encrypted": texts.current is not None}
