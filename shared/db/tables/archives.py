"""Weeks of messages that are kept in files."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Table, Text, Uuid

from shared.db.tables.base import MOMENT, metadata

archived_week = Table(
    "archived_week",
    metadata,
    Column("began_at", MOMENT, primary_key=True, comment="its Monday, UTC"),
    Column("first_id", Uuid, nullable=False, comment="the smallest id of the week"),
    Column("end_id", Uuid, nullable=False, comment="the smallest id of the next week"),
    Column(
        "sealed_at",
        MOMENT,
        nullable=False,
        comment="when it was archived first; forgetting its sends since then leaves its usage as it is",
    ),
    Column("messages", BigInteger, comment="messages in the file; null: it is not written yet"),
    Column("sha256", Text, comment="checksum of the file"),
    Column("written_at", MOMENT, comment="the file lacks what was forgotten or erased until then"),
    Column("restored_at", MOMENT, comment="since when its messages are in the database again"),
    CheckConstraint(
        "(messages IS NULL) = (sha256 IS NULL) AND (messages IS NULL) = (written_at IS NULL)", name="written"
    ),
    comment="weeks whose messages were moved to files; a row is never deleted",
)
