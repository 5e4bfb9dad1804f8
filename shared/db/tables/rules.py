"""Quotes, and the default rules of accounts by category."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, metadata

quote = Table(
    "quote",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("fingerprint", LargeBinary, nullable=False, comment="hash of the priced request"),
    Column("cost", BigInteger, nullable=False),
    Column("price_version_id", BigInteger, comment="the prices that it was made with; null: 1 per segment"),
    Column("expires_at", MOMENT, nullable=False, index=True),
)

category_rule = Table(
    "category_rule",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("category", Text, nullable=False),
    Column("quiet_from", SmallInteger, comment="minute of the recipient's day"),
    Column("quiet_until", SmallInteger),
    Column("cap_messages", SmallInteger),
    Column("cap_hours", SmallInteger),
    PrimaryKeyConstraint("account_id", "category"),
    CheckConstraint("category IN ('transactional', 'marketing')", name="category"),
    CheckConstraint(
        "(quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until"
        " AND quiet_from BETWEEN 0 AND 1439 AND quiet_until BETWEEN 0 AND 1439",
        name="quiet",
    ),
    CheckConstraint(
        "(cap_messages IS NULL) = (cap_hours IS NULL) AND cap_messages > 0 AND cap_hours BETWEEN 1 AND 744", name="cap"
    ),
    comment="an account's default rules for sends of a category",
)

capped = Table(
    "capped",
    metadata,
    Column("account_id", BigInteger, nullable=False),
    Column("lane", SmallInteger, nullable=False),
    Column("phone", BigInteger, nullable=False),
    Column("message_id", Uuid, nullable=False),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()"), index=True),
    PrimaryKeyConstraint("account_id", "lane", "phone", "message_id"),
    comment="messages that count against a frequency cap",
)
