"""Price lists, their versions and prices, and which list an account has."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, NOW, metadata

price_list = Table(
    "price_list",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("carrier", Text, unique=True, comment="the carrier whose costs it has; null: what accounts pay"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
)

price_version = Table(
    "price_version",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("list_id", BigInteger, ForeignKey("price_list.id"), nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("prices", Integer, nullable=False, comment="number of its prices"),
    Column("valid_from", MOMENT, comment="null: a draft"),
    Column("published_at", MOMENT),
    Column("withdrawn_at", MOMENT, comment="it never became valid"),
    CheckConstraint("(valid_from IS NULL) = (published_at IS NULL)", name="published"),
    CheckConstraint("withdrawn_at < valid_from", name="withdrawn"),
    Index("ix_price_version_list_id", "list_id", "valid_from"),
    comment="what a list says from a moment on, until its next version is valid; its prices never change",
)

price = Table(
    "price",
    metadata,
    Column("version_id", BigInteger, primary_key=True),
    Column("category", Text, primary_key=True, comment="empty: any"),
    Column("prefix", Text, primary_key=True, comment="first digits of phones; empty: any"),
    Column("price", BigInteger, nullable=False, comment="credits per segment"),
    CheckConstraint("category IN ('', 'transactional', 'marketing', 'authentication')", name="category"),
    CheckConstraint("prefix ~ '^[0-9]{0,15}$'", name="prefix"),
    CheckConstraint("price >= 0", name="price"),
)

price_assignment = Table(
    "price_assignment",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), comment="null: every account without one of its own"),
    Column("list_id", BigInteger, ForeignKey("price_list.id"), comment="null: no list from then on"),
    Column("valid_from", MOMENT, nullable=False),
    Index("ix_price_assignment_account_id", "account_id", "valid_from"),
    Index("ix_price_assignment_default", "valid_from", postgresql_where=text("account_id IS NULL")),
    comment="which list an account has from a moment on; append-only",
)

contact_group_prefix = Table(
    "contact_group_prefix",
    metadata,
    Column("group_id", Uuid, ForeignKey("contact_group.id"), primary_key=True),
    Column("prefix", SmallInteger, primary_key=True, comment="the first four digits of phones"),
    Column("contacts", BigInteger, nullable=False),
    comment="contacts of a group by what tells their country; triggers of `contact` keep it",
)
