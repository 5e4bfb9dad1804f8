"""The texts of messages, as their recipients get them."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, Select, select

from shared.db.encryption_keys import texts_of
from shared.db.expressions import in_parameter
from shared.db.tables.sends import batch, send
from shared.encryption import Texts
from shared.ids import batch_of, index_of
from shared.messages.history import MessageRow
from shared.sends.templates import as_priced, parse
from shared.sms.segments import split
from shared.verifications import shown

TEXTS: Select[Any] = (
    select(
        *(batch.c.id, send.c.id.label("send_id"), send.c.message, send.c.encoding, send.c.on_unicode),
        *(batch.c.variables, send.c.verification_id, send.c.test),
    )
    .join_from(batch, send, send.c.id == batch.c.send_id)
    .where(in_parameter(batch.c.id, "batches"))
)


class MessageText(NamedTuple):
    """A text, its encoding, and its parts: one per segment."""

    text: str | None
    """None if it was erased with the phone."""
    encoding: str
    parts: list[str]


def text_of_message(connection: Connection, message: MessageRow) -> MessageText:
    """Render the text with the recipient's placeholder values. Raises TextKeyMissing or TextUnreadable."""
    return texts_of_messages(connection, [message])[message.id]


def texts_of_messages(connection: Connection, messages: Sequence[MessageRow]) -> dict[UUID, MessageText]:
    """The texts of messages by their ids, read with one query; each stored text is decrypted once.

    Raises as `text_of_message`.
    """
    batches = {batch_of(message.id) for message in messages}
    rows = {row.id: row for row in connection.execute(TEXTS, {"batches": list(batches)})}
    texts = texts_of(connection)
    open_texts = cache(lambda batch_id: _open(texts, rows[batch_id]))
    return {message.id: _render(rows[batch_of(message.id)], open_texts, message) for message in messages}


def _open(texts: Texts, row: Row[Any]) -> tuple[str, Any]:
    """The text of a batch, and its placeholder values by message; None if there are none."""
    values = texts.open_json(row.variables, row.id) if row.variables else None
    return shown(texts.open(row.message, row.send_id), row), values


def _render(row: Row[Any], open_texts: Callable[[UUID], tuple[str, Any]], message: MessageRow) -> MessageText:
    if message.phone is None:
        return MessageText(None, row.encoding, [])
    (content, values), encoding = open_texts(row.id), row.encoding
    if values is not None:
        template = parse(content)
        assert template is not None, "the batch has placeholder values but the text has no placeholder"
        content, encoding = as_priced(template, values[index_of(message.id) - 1], row.on_unicode)
    return MessageText(content, encoding, split(content))
