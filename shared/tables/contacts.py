"""Groups, their contacts, and phones that do not want to be written to."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.tables.base import MOMENT, NOW, metadata, zero

contact_group = Table(
    "contact_group",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("name", Text, nullable=False),
    zero("contact_count"),
    zero("last_position", BigInteger),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    Column("deleted_at", MOMENT),
    CheckConstraint("contact_count >= 0", name="contact_count"),
    Index(
        "uq_contact_group_account_id_name",
        "account_id",
        "name",
        unique=True,
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index("ix_contact_group_account_id_id", "account_id", "id", postgresql_where=text("deleted_at IS NULL")),
    Index("ix_contact_group_deleted", "id", postgresql_where=text("deleted_at IS NOT NULL AND contact_count > 0")),
    comment="contact_count and last_position change in the transaction that changes the contacts",
)

contact = Table(
    "contact",
    metadata,
    Column("group_id", Uuid, ForeignKey("contact_group.id"), nullable=False),
    Column("position", BigInteger, nullable=False, comment="order of arrival in the group, never used again"),
    Column("phone", BigInteger, nullable=False),
    Column("fields", JSONB, comment="texts by name, for placeholders; null: none"),
    Column("tags", ARRAY(Text), comment="null: none"),
    PrimaryKeyConstraint("group_id", "position"),
    UniqueConstraint("group_id", "phone"),
    Index("ix_contact_tags", "tags", postgresql_using="gin", postgresql_where=text("tags IS NOT NULL")),
)

suppression = Table(
    "suppression",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("phone", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("category", Text, nullable=False, server_default="", comment="only of this category; empty: of all"),
    Column("sender_id", Text, nullable=False, server_default="", comment="only from this sender ID; empty: from all"),
    PrimaryKeyConstraint("account_id", "phone", "category", "sender_id"),
)
