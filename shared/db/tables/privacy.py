"""Erasures of personal data."""

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, Column, ForeignKey, Index, Table, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, NOW, metadata

erasure = Table(
    "erasure",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("phone", BigInteger),
    Column("due_at", MOMENT, nullable=False),
    Column("waiting", ARRAY(Uuid), comment="batches that workers still have; null: not searched yet"),
    Column("counts", JSONB, nullable=False, server_default="{}"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("completed_at", MOMENT),
    CheckConstraint("(phone IS NULL) = (completed_at IS NOT NULL)", name="phone"),
    Index("ix_erasure_account_id_id", "account_id", "id"),
    Index("ix_erasure_due_at", "due_at", postgresql_where=text("completed_at IS NULL")),
    Index("ix_erasure_account_id_phone", "account_id", "phone", postgresql_where=text("completed_at IS NULL")),
    comment="requests to erase a person's data; the phone is erased with it",
)
