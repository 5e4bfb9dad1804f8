"""Message counts, which outlive the messages."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)

from shared.db.tables.base import MOMENT, flag, message_status, metadata

usage_hour = Table(
    "usage_hour",
    metadata,
    Column("began_at", MOMENT, primary_key=True),
    Column("due_at", MOMENT, nullable=False, comment="when its sends are counted again"),
    Column("counted_at", MOMENT),
    Column("counters", ARRAY(BigInteger), comment="sums over its sends when they were counted"),
    flag("final", comment="whether its sends cannot change any more"),
    Index("ix_usage_hour_due_at", "due_at", postgresql_where=text("NOT final")),
    comment="hours (UTC) in which sends were accepted",
)

usage = Table(
    "usage",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("began_at", MOMENT, nullable=False, comment="hour in which the sends were accepted"),
    Column("sender_id", Text, nullable=False),
    Column("lane", SmallInteger, nullable=False),
    Column("country", Text, nullable=False, comment="ISO 3166-1, two letters; empty: unknown"),
    Column("status", message_status, nullable=False),
    Column("messages", BigInteger, nullable=False),
    Column("credits", BigInteger, nullable=False, comment="credits of the charged messages"),
    flag("kept", comment="counts of deleted sends; only added to"),
    PrimaryKeyConstraint("account_id", "began_at", "sender_id", "lane", "country", "status", "kept"),
    Index("ix_usage_began_at", "began_at"),
    comment="messages with a result, by hour; the rows of an hour are replaced together",
)

margin = Table(
    "margin",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("began_at", MOMENT, nullable=False, comment="hour in which the sends were accepted"),
    Column("country", Text, nullable=False, comment="ISO 3166-1, two letters; empty: unknown"),
    Column("carrier", Text, nullable=False),
    flag("costed", comment="whether it is known what they cost"),
    Column("messages", BigInteger, nullable=False),
    Column("credits", BigInteger, nullable=False, comment="what the account paid"),
    Column("cost", BigInteger, nullable=False, comment="credits of ours; 0 unless costed"),
    flag("kept", comment="counts of deleted sends; only added to"),
    PrimaryKeyConstraint("account_id", "began_at", "country", "carrier", "costed", "kept"),
    Index("ix_margin_began_at", "began_at"),
    comment="charged messages, and what they cost, by hour; of hours in which a carrier has costs",
)
