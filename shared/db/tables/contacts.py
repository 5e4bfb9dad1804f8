"""Groups, contacts, imports and the opt-out list."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, NOW, THIS_TRANSACTION, metadata, zero

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
    Column("position", BigInteger, nullable=False, comment="order in which contacts were added; never reused"),
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
    Column(
        "category", Text, nullable=False, server_default="", comment="the only category that it applies to; empty: all"
    ),
    Column(
        "sender_id",
        Text,
        nullable=False,
        server_default="",
        comment="the only sender ID that it applies to; empty: all",
    ),
    PrimaryKeyConstraint("account_id", "phone", "category", "sender_id"),
    Index("ix_suppression_undecided", "account_id", "phone", postgresql_where=text("reason = 'possible_stop'")),
)

suppression_change = Table(
    "suppression_change",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("account_id", BigInteger, nullable=False),
    Column("xid", BigInteger, nullable=False, server_default=THIS_TRANSACTION),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Index("ix_suppression_change_account_id_xid", "account_id", "xid"),
    comment="recent opt-outs, one row per transaction",
)

contact_import = Table(
    "contact_import",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("group_id", Uuid, ForeignKey("contact_group.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("country", Text, comment="country whose national numbers the file may have"),
    zero("chunks", comment="number of chunks"),
    zero("next_chunk", comment="the chunk to import next"),
    zero("bytes", BigInteger),
    zero("bytes_done", BigInteger),
    Column(
        "checkpoint",
        JSONB,
        comment="how far the file was read, and its format: shared.contacts.csv.Checkpoint",
    ),
    zero("rows"),
    zero("added"),
    zero("changed"),
    zero("unchanged"),
    zero("invalid"),
    Column("error", Text, comment="why the import failed"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("worked_at", MOMENT, nullable=False, server_default=NOW),
    Column("finished_at", MOMENT),
    CheckConstraint(
        "state IN ('receiving', 'queued', 'running', 'completed', 'failed', 'canceled')",
        name="state",
    ),
    Index("ix_contact_import_account_id_id", "account_id", "id"),
    Index("ix_contact_import_open", "worked_at", postgresql_where=text("state IN ('receiving', 'queued', 'running')")),
    comment="a file of contacts that is being imported into a group; each chunk is one transaction",
)

import_chunk = Table(
    "import_chunk",
    metadata,
    Column("import_id", Uuid, ForeignKey("contact_import.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("import_id", "number"),
    comment="the rest of a file, in whole lines",
)

import_error = Table(
    "import_error",
    metadata,
    Column("import_id", Uuid, ForeignKey("contact_import.id"), nullable=False),
    Column("line", Integer, nullable=False),
    Column("value", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("detail", Text, nullable=False),
    PrimaryKeyConstraint("import_id", "line"),
)
