"""Accounts, their API keys and sender IDs; operator keys; the audit log of changes to rights and money."""

from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
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
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, NOW, flag, metadata, zero
from shared.lifecycle import ACCOUNT_STATES, SENDER_ID_STATES

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
        comment="end of the last batch in fair order, per lane",
    ),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    Column(
        "country",
        Text,
        comment="ISO 3166-1, two letters: national numbers in its contact lists are read as numbers of this country",
    ),
    Column("spend_day", BigInteger, comment="credits that its sends may reserve in a UTC day; null: unlimited"),
    Column("spend_month", BigInteger, comment="credits that its sends may reserve in a UTC month; null: unlimited"),
    Column(
        "retention_days",
        Integer,
        comment="days after which texts and phones are deleted; null: the installation's setting",
    ),
    Column("forgotten_to", Uuid, comment="texts and phones of sends up to this one are deleted"),
    Column(
        "sandbox_of",
        BigInteger,
        ForeignKey("account.id"),
        unique=True,
        comment="the live account whose test keys use this sandbox; null: a live account",
    ),
    flag("authentication", comment="whether its sends may have the category authentication"),
    zero("credit_limit", BigInteger, comment="credits that it may owe: `available` may be as far below 0"),
    Column("spend_threshold", BigInteger, comment="credits charged in a UTC month that are reported; null: none"),
    Column("spend_told", Date, comment="the month for which the threshold was reported, by its first day"),
    Column("verification", JSONB(none_as_null=True), comment="its settings of verifications; null: the usual ones"),
    CheckConstraint("sandbox_of <> id", name="sandbox_of"),
    CheckConstraint("retention_days BETWEEN 1 AND 3650", name="retention_days"),
    CheckConstraint("spend_day > 0 AND spend_month > 0", name="spend"),
    CheckConstraint("credit_limit >= 0", name="credit_limit"),
    CheckConstraint("spend_threshold > 0", name="spend_threshold"),
    CheckConstraint("reserved >= 0", name="reserved"),
    CheckConstraint("weight > 0", name="weight"),
    CheckConstraint(f"state IN {ACCOUNT_STATES}", name="state"),
    CheckConstraint("country ~ '^[A-Z]{2}$'", name="country"),
)

TO_SPEND: Final = account.c.available + account.c.credit_limit
"""Credits that an account can spend. Negative if its credit limit was lowered below what it owes."""

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
    Column("allowed_ips", ARRAY(Text), comment="the only networks from which it may be used; null: all"),
    Column("requests_per_second", Integer, comment="maximum for this key; null: the account's"),
    zero("generation", comment="how often it was rotated; a token names the generation of its secret"),
    Column("previous_hash", LargeBinary, comment="hash of the previous secret, valid until previous_until"),
    Column("previous_until", MOMENT),
    Column("last_used_at", MOMENT),
    CheckConstraint("requests_per_second > 0", name="requests_per_second"),
    Index("ix_api_key_live", "account_id", "id", postgresql_where=text("revoked_at IS NULL")),
    Index("ix_api_key_revoked_at", "revoked_at", postgresql_where=text("revoked_at IS NOT NULL")),
    Index("ix_api_key_expires_at", "expires_at", postgresql_where=text("expires_at IS NOT NULL")),
)

revoked_token = Table(
    "revoked_token",
    metadata,
    Column("id", Text, primary_key=True),
    Column("revoked_at", MOMENT, nullable=False, server_default=NOW, index=True),
    Column("expires_at", MOMENT, nullable=False, index=True),
    Column("api_key_id", Text, nullable=False, index=True, comment="key or person of the token"),
)

operator_key = Table(
    "operator_key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("allowed_ips", ARRAY(Text), comment="the only networks from which it may be used; null: all"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("expires_at", MOMENT),
    Column("revoked_at", MOMENT),
    Column("last_used_at", MOMENT, comment="when it was last exchanged for a token"),
    comment="keys of the operator API; they belong to the installation",
)

operator_revocation = Table(
    "operator_revocation",
    metadata,
    Column("holder", Text, primary_key=True, comment="an operator key, a person, or a session of one"),
    Column("revoked_at", MOMENT, nullable=False, comment="operator tokens issued to the holder before are revoked"),
    comment="revocations of operator tokens; kept until the tokens have expired",
)

SKELETON: Final = (
    "replace(replace(translate(regexp_replace(sender_id, '[^A-Za-z0-9]', '', 'g'),"
    " 'ABCDEFGHIJKLMNOPQRSTUVWXYZ01i582', 'abcdefghljklmnopqrstuvwxyzollsbz'), 'rn', 'm'), 'vv', 'w')"
)
"""SQL: a sender ID without what readers do not notice, as `skeleton` of `shared.senders.similarity` makes it."""
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
    Column("use_case", Text, comment="the purpose, in the account's own words"),
    flag(
        "authentication", comment="whether sends from it may have the category authentication, whatever the account may"
    ),
    PrimaryKeyConstraint("account_id", "sender_id"),
    CheckConstraint(f"state IN {SENDER_ID_STATES}", name="state"),
    Index("ix_sender_id_name", text("lower(sender_id)")),
    Index("ix_sender_id_skeleton", text(SKELETON)),
    Index("uq_sender_id_id", "id", unique=True),
    Index("ix_sender_id_refused", "decided_at", postgresql_where=text("state IN ('suspended', 'rejected')")),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("account_id", BigInteger, ForeignKey("account.id")),
    Column("actor", Text, nullable=False, comment="an API key, a person, an operator, or a worker"),
    Column("action", Text, nullable=False, comment="type of the object and of the change, such as key.created"),
    Column("subject", Text, comment="id of the object"),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("reason", Text),
    Column("request_id", Text),
    Column("address", Text),
    Index("ix_audit_log_account_id_id", "account_id", "id"),
    Index(
        "ix_audit_log_approved_sender",
        text("lower(subject)"),
        "id",
        postgresql_where=text("action = 'sender.approved'"),
    ),
    comment="changes of rights and money; append-only: a trigger refuses UPDATE, DELETE and TRUNCATE",
)
