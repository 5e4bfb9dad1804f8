"""The keys that encrypt the database's texts."""

from sqlalchemy import Column, Table, Text

from shared.db.tables.base import MOMENT, NOW, metadata

text_key = Table(
    "text_key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("proof", Text, nullable=False, comment="a known text, encrypted with the key"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    comment="keys that have encrypted texts; a process without one of them does not start",
)
