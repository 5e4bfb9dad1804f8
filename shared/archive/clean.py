"""Removes from a copy of a week's messages what was forgotten or erased, by the batches, which stay in the database."""

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, cast, delete, func, literal, text, update
from sqlalchemy.dialects.postgresql import BIT

from shared.db.tables.messages import message
from shared.db.tables.sends import batch, send
from shared.privacy.erasures import ERASED_PHONE

UNLIMITED = text(
    """
    SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
           set_config('lock_timeout', '1min', true)
    """
)
"""A week of messages takes longer than other transactions may."""


def table_of(name: str) -> Table:
    """A table with the columns of `message`."""
    return Table(name, MetaData(), *(Column(column.name, column.type) for column in message.columns))


def clean(connection: Connection, table: Table) -> None:
    """Delete the messages of forgotten sends, and erase the phones that their batches do not have any more."""
    of_batch = batch.c.id == func.batch_of(table.c.id)
    forgotten = send.c.forgotten_at.is_not(None)
    connection.execute(delete(table).where(of_batch, send.c.id == batch.c.send_id, forgotten))
    bits = literal("x", Text) + func.right(cast(table.c.id, Text), 4)
    index = cast(cast(bits, BIT(16)), Integer)
    lines = literal("\n", Text) + batch.c.recipients + literal("\n", Text)
    has_erased = func.strpos(lines, f"\n{ERASED_PHONE}\n") > 0
    is_erased = func.split_part(batch.c.recipients, "\n", index) == ERASED_PHONE
    by_phone = literal("to:", Text) + cast(table.c.phone, Text)  # the reference of one without an id of the carrier
    erased = update(table).where(of_batch, table.c.phone != 0, has_erased, is_erased)
    connection.execute(erased.values(phone=0, reference=func.replace(table.c.reference, by_phone, "to:0")))
