"""Verifications: codes that were sent to phones, to be entered by who has them."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, NOW, metadata, zero

verification = Table(
    "verification",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("phone", BigInteger, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("country", Text, comment="ISO 3166-1, two letters; null: none"),
    Column("code", Text, nullable=False, comment="sealed under a key of its own"),
    zero("checks", SmallInteger, comment="wrong checks, and those that are being compared"),
    Column("max_checks", SmallInteger, nullable=False),
    Column("sends", SmallInteger, nullable=False, server_default=text("1"), comment="how often the code was sent"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("sent_at", MOMENT, nullable=False, server_default=NOW, comment="when the code was last accepted"),
    Column("expires_at", MOMENT, nullable=False),
    Column("approved_at", MOMENT),
    Column("replaced_at", MOMENT, comment="when a new one for its phone and purpose began"),
    CheckConstraint("checks BETWEEN 0 AND max_checks", name="checks"),
    Index("ix_verification_account_id_id", "account_id", "id"),
    Index("ix_verification_account_id_phone", "account_id", "phone"),
    Index("ix_verification_expires_at", "expires_at"),
    Index(
        "uq_verification_open",
        "account_id",
        "phone",
        "purpose",
        unique=True,
        postgresql_where=text("approved_at IS NULL AND replaced_at IS NULL"),
    ),
    comment="codes sent to phones; deleted 30 days after they expired",
)
