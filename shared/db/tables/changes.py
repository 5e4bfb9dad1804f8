"""The log of what changes rights or money."""

from sqlalchemy import BigInteger, Column, ForeignKey, Identity, Index, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, metadata

change = Table(
    "change",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("account_id", BigInteger, ForeignKey("account.id")),
    Column("who", Text, nullable=False, comment="an API key, an operator, or a worker"),
    Column("what", Text, nullable=False, comment="the kind of thing, and what happened to it: key.created"),
    Column("subject", Text, comment="which one"),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("reason", Text),
    Column("request_id", Text),
    Column("address", Text),
    Index("ix_change_account_id_id", "account_id", "id"),
    comment="who changed rights or money; append-only: a trigger refuses UPDATE, DELETE and TRUNCATE",
)
