"""Limits and default rules of accounts, their spending, findings of the pumping guard, and quotes."""

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
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, NOW, metadata

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
    Column(
        "part_of",
        ARRAY(Integer),
        comment="reference and number of parts of the long message that it is a part of; null: none",
    ),
    PrimaryKeyConstraint("account_id", "lane", "phone", "message_id"),
    comment="messages that count against a frequency cap",
)

account_limit = Table(
    "account_limit",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), primary_key=True, autoincrement=False),
    Column("requests_per_second", Integer),
    Column("destinations", ARRAY(Text), comment="the only prefixes that phones may begin with; null: all"),
    Column("pumping", Text, nullable=False, server_default="off"),
    Column(
        "recipient_authentication",
        Integer,
        comment="messages of the category to a phone per hour; 0: unlimited; null: the installation's setting",
    ),
    Column("recipient_transactional", Integer),
    Column("recipient_marketing", Integer),
    CheckConstraint(
        "recipient_authentication >= 0 AND recipient_transactional >= 0 AND recipient_marketing >= 0", name="recipient"
    ),
    CheckConstraint("requests_per_second > 0", name="requests_per_second"),
    CheckConstraint("pumping IN ('off', 'watch', 'block')", name="pumping"),
)

spending = Table(
    "spending",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("period", Text, nullable=False),
    Column("begins", Date, nullable=False),
    Column("credits", BigInteger, nullable=False),
    Column("most", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "period", "begins"),
    CheckConstraint("credits <= most", name="most"),
    CheckConstraint("period IN ('day', 'month')", name="period"),
    comment="credits reserved by accounts with a spend limit, per UTC day or month",
)

pumping_finding = Table(
    "pumping_finding",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("at", MOMENT, nullable=False, server_default=NOW),
    Column("rule", Text, nullable=False),
    Column("prefix", Text, nullable=False, comment="common prefix of the phones"),
    Column("phones", Integer, nullable=False, comment="phones sent to within the window"),
    Column("most", Integer, nullable=False, comment="usual number of phones"),
    Column("refused", Boolean, nullable=False, comment="whether sends were refused or only observed"),
    Index("ix_pumping_finding_account_id_id", "account_id", "id"),
)
