"""Re-encrypts stored texts with the current key, after a change of keys or after encryption was turned on or off.

Runs beside the live service, page by page, each in its own transaction, and skips locked rows. Once no text depends on
another key, the database forgets the other keys.
"""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Engine, Row, TextClause, text

from shared.db.encryption_keys import forget_keys, texts_of
from shared.encryption import MARK, Texts
from shared.ids import FIRST_ID
from shared.inbound.store import PartSet, open_part, seal_part

PAGE: Final = 500

OTHERWISE: Final = "starts_with({kept}, :prefix) <> :sealed"
"""SQL condition: the text is not stored under the current key (or, without one, as plain text)."""
PAGED: Final = "AND id > :after ORDER BY id LIMIT :page FOR UPDATE SKIP LOCKED"
LOCKED: Final = "FOR UPDATE SKIP LOCKED"

OF_SENDS: Final = f"SELECT id, message FROM send WHERE message <> '' AND {OTHERWISE.format(kept='message')}"
OF_VALUES: Final = f"""
    SELECT id, variables FROM batch
     WHERE variables <> '[]' AND {OTHERWISE.format(kept="(variables #>> '{}')")}
"""
OF_INBOUND: Final = f"SELECT id, message FROM inbound WHERE message <> '' AND {OTHERWISE.format(kept='message')}"
OF_EVENTS: Final = f"""
    SELECT id, data FROM event
     WHERE type = 'message.received' AND data ->> 'message' <> '' AND {OTHERWISE.format(kept="(data ->> 'message')")}
"""
OF_RESPONSES: Final = f"""
    SELECT ctid AS id, answer FROM idempotency
     WHERE path ~ '/sends/[^/]+/(cancel|pause|resume)$'
       AND CAST(answer AS json) ->> 'message' <> '' AND {OTHERWISE.format(kept="(CAST(answer AS json) ->> 'message')")}
"""
OF_PARTS: Final = """
    SELECT ctid AS id, carrier, phone, sender_id, reference, total, number, text FROM inbound_part
     WHERE (position(CAST(:octets AS bytea) IN text) = 1) <> :sealed
"""


class EncryptedColumn(NamedTuple):
    """A column that holds encrypted texts."""

    name: str
    left: TextClause
    """Selects whether any text is left to rewrite."""
    rows: TextClause
    """Selects and locks rows to rewrite: one page, or all."""
    write: TextClause
    rewritten: Callable[[Texts, Row[Any]], Any]
    """Returns the rewritten value of a row."""


class Rewritten(NamedTuple):
    """Number of rewritten texts by column, whether any are left, and the keys still in use."""

    texts: dict[str, int]
    left: bool
    keys: list[str]


def _message(texts: Texts, row: Row[Any]) -> str:
    return texts.seal(texts.open(row.message, row.id), row.id)


def _values(texts: Texts, row: Row[Any]) -> str:
    return texts.seal_json(texts.open_json(row.variables, row.id), row.id)


def _part(texts: Texts, row: Row[Any]) -> bytes:
    key = PartSet(row.carrier, row.phone, row.sender_id, row.reference, row.total)
    return seal_part(texts, key, row.number, open_part(texts, key, row.number, bytes(row.text)))


def _event(texts: Texts, row: Row[Any]) -> str:
    inbound_id = row.data["inbound_id"]
    message = texts.open(row.data["message"], inbound_id)
    return json.dumps({**row.data, "message": texts.seal(message, inbound_id)})


def _response(texts: Texts, row: Row[Any]) -> str:
    document = json.loads(row.answer)
    send_id = document["send_id"]
    document["message"] = texts.seal(texts.open(document["message"], send_id), send_id)
    return json.dumps(document, separators=(",", ":"))


ENCRYPTED_COLUMNS: Final = (
    EncryptedColumn(
        "sends",
        text(f"SELECT EXISTS ({OF_SENDS})"),
        text(f"{OF_SENDS} {PAGED}"),
        text("UPDATE send SET message = :again WHERE id = :id"),
        _message,
    ),
    EncryptedColumn(
        "values of recipients",
        text(f"SELECT EXISTS ({OF_VALUES})"),
        text(f"{OF_VALUES} {PAGED}"),
        text("UPDATE batch SET variables = CAST(:again AS jsonb) WHERE id = :id"),
        _values,
    ),
    EncryptedColumn(
        "messages received",
        text(f"SELECT EXISTS ({OF_INBOUND})"),
        text(f"{OF_INBOUND} {PAGED}"),
        text("UPDATE inbound SET message = :again WHERE id = :id"),
        _message,
    ),
    EncryptedColumn(
        "events",
        text(f"SELECT EXISTS ({OF_EVENTS})"),
        text(f"{OF_EVENTS} {PAGED}"),
        text("UPDATE event SET data = CAST(:again AS json) WHERE id = :id"),
        _event,
    ),
    EncryptedColumn(
        "stored answers",
        text(f"SELECT EXISTS ({OF_RESPONSES})"),
        text(f"{OF_RESPONSES} {LOCKED}"),
        text("UPDATE idempotency SET answer = :again WHERE ctid = CAST(:id AS tid)"),
        _response,
    ),
    EncryptedColumn(
        "parts of messages",
        text(f"SELECT EXISTS ({OF_PARTS})"),
        text(f"{OF_PARTS} {LOCKED}"),
        text("UPDATE inbound_part SET text = :again WHERE ctid = CAST(:id AS tid)"),
        _part,
    ),
)
"""Raw SQL, because each column holds its texts in another form. Rows without an id are named by their `ctid`, which
does not change while they are locked."""


def rewrite(engine: Engine) -> Rewritten:
    """Rewrite every text that is not stored under the current key. Raises TextKeyMissing, TextUnreadable."""
    texts = texts_of(engine)
    written = {column.name: _rewrite(engine, texts, column) for column in ENCRYPTED_COLUMNS}
    with engine.begin() as connection:
        left = any(
            connection.execute(column.left, _parameters(texts, FIRST_ID)).scalar() for column in ENCRYPTED_COLUMNS
        )
        keys = texts.ids if left else forget_keys(connection, texts)
    return Rewritten(written, left, keys)


def _rewrite(engine: Engine, texts: Texts, column: EncryptedColumn) -> int:
    written, after = 0, FIRST_ID
    while True:
        with engine.begin() as connection:
            rows = connection.execute(column.rows, _parameters(texts, after)).all()
            changed = [{"id": row.id, "again": column.rewritten(texts, row)} for row in rows]
            if changed:
                connection.execute(column.write, changed)
        written += len(rows)
        if len(rows) < PAGE or not isinstance(rows[-1].id, UUID):
            return written
        after = rows[-1].id


def _parameters(texts: Texts, after: UUID) -> dict[str, Any]:
    prefix = MARK if texts.current is None else f"{MARK}{texts.current}:"
    octets = prefix.encode("utf-16-be")
    return {"prefix": prefix, "octets": octets, "sealed": texts.current is not None, "after": after, "page": PAGE}
