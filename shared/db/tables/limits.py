"""Limits of accounts, their spending, and findings of the pumping guard."""

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
    PrimaryKeyConstraint,
    Table,
    Text,
)

from shared.db.tables.base import MOMENT, NOW, metadata

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
