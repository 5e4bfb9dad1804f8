"""Customers, their API keys and their sender IDs."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    text,
)

from shared.tables.base import MOMENT, NOW, metadata, zero

account = Table(
    "account",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("state", Text, nullable=False, server_default="active"),
    zero("available", BigInteger),
    zero("reserved", BigInteger),
    Column("low_balance_threshold", BigInteger, nullable=False, server_default=text("100")),
    Column("weight", Integer, nullable=False, server_default=text("1"), comment="share of the carrier among accounts"),
    Column(
        "turns",
        ARRAY(BigInteger),
        nullable=False,
        server_default="{0,0,0}",
        comment="where the last batch ends in fair order, per lane",
    ),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    Column("country", Text, comment="ISO 3166-1, two letters: whose national numbers its lists of contacts may have"),
    Column("spend_day", BigInteger, comment="credits that its sends may reserve on a day of UTC; null: all"),
    Column("spend_month", BigInteger, comment="credits that its sends may reserve in a month of UTC; null: all"),
    Column(
        "retention_days", Integer, comment="after which texts and phones are forgotten; null: as the installation says"
    ),
    Column("forgotten_to", Uuid, comment="the sends up to this one are forgotten"),
    Column(
        "sandbox_of",
        BigInteger,
        ForeignKey("account.id"),
        unique=True,
        comment="the live account whose test keys work here; null: this is a live account",
    ),
    CheckConstraint("sandbox_of <> id", name="sandbox_of"),
    CheckConstraint("retention_days BETWEEN 1 AND 3650", name="retention_days"),
    CheckConstraint("spend_day > 0 AND spend_month > 0", name="spend"),
    CheckConstraint("available >= 0", name="available"),
    CheckConstraint("reserved >= 0", name="reserved"),
    CheckConstraint("weight > 0", name="weight"),
    CheckConstraint("state IN ('active', 'suspended', 'frozen')", name="state"),
    CheckConstraint("country ~ '^[A-Z]{2}$'", name="country"),
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False, index=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("test", Boolean, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("expires_at", MOMENT),
    Column("revoked_at", MOMENT),
    Column("name", Text),
    Column("allowed_ips", ARRAY(Text), comment="networks from which alone it may be used; null: from everywhere"),
    Column("requests_per_second", Integer, comment="of this key, at most; null: as many as its account"),
    Column(
        "generation",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment="how often it was rotated; a token names that of the secret it was got with",
    ),
    Column("previous_hash", LargeBinary, comment="the secret before, which lives until previous_until"),
    Column("previous_until", MOMENT),
    Column("last_used_at", MOMENT),
    CheckConstraint("requests_per_second > 0", name="requests_per_second"),
)

revoked_token = Table(
    "revoked_token",
    metadata,
    Column("id", Text, primary_key=True),
    Column("revoked_at", MOMENT, nullable=False, server_default=NOW),
    Column("expires_at", MOMENT, nullable=False, index=True),
)

sender_id = Table(
    "sender_id",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("sender_id", Text, nullable=False),
    Column("state", Text, nullable=False, server_default="pending"),
    Column("reason", Text),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("decided_at", MOMENT),
    Column("id", Uuid, nullable=False, server_default=text("gen_random_uuid()")),
    Column("use_case", Text, comment="what the account wants it for, in its own words"),
    PrimaryKeyConstraint("account_id", "sender_id"),
    CheckConstraint("state IN ('pending', 'approved', 'rejected', 'suspended')", name="state"),
    Index("ix_sender_id_name", text("lower(sender_id)")),
    Index("uq_sender_id_id", "id", unique=True),
    Index("ix_sender_id_refused", "decided_at", postgresql_where=text("state IN ('suspended', 'rejected')")),
)
