"""The text of one message, as its recipient gets it."""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from api.resources.messages.history import MessageRow
from shared.db.encryption_keys import texts_of
from shared.db.tables.sends import batch, send
from shared.ids import batch_of, index_of
from shared.sends.templates import as_priced, parse
from shared.sms.segments import split

TEXT = (
    select(send.c.id.label("send_id"), send.c.message, send.c.encoding, send.c.on_unicode, batch.c.variables)
    .join_from(batch, send, send.c.id == batch.c.send_id)
    .where(batch.c.id == bindparam("batch"))
)


class MessageText(NamedTuple):
    """A text, its encoding, and its parts: one per segment."""

    text: str | None
    """None if it was erased with the phone."""
    encoding: str
    parts: list[str]


def text_of_message(connection: Connection, message: MessageRow) -> MessageText:
    """Render the text with the recipient's placeholder values. Raises TextKeyMissing or TextUnreadable."""
    texts, batch_id = texts_of(connection), batch_of(message.id)
    row = connection.execute(TEXT, {"batch": batch_id}).one()
    if message.phone is None:
        return MessageText(None, row.encoding, [])
    content, encoding = texts.open(row.message, row.send_id), row.encoding
    if row.variables:
        template = parse(content)
        assert template is not None, "the batch has placeholder values but the text has no placeholder"
        values = texts.open_json(row.variables, batch_id)[index_of(message.id) - 1]
        content, encoding = as_priced(template, values, row.on_unicode)
    return MessageText(content, encoding, split(content))
