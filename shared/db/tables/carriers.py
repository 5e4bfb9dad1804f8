"""Carriers while they run: what the operator changed, and how the workers find them."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Double, Integer, PrimaryKeyConstraint, Table, Text

from shared.db.tables.base import MOMENT, NOW, metadata

carrier_setting = Table(
    "carrier_setting",
    metadata,
    Column("name", Text, primary_key=True),
    Column("rate", Double),
    Column("window", Integer),
    Column("paused", Boolean, nullable=False, server_default="false"),
    Column("changed_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("rate >= 0", name="rate"),
    CheckConstraint('"window" > 0', name="window"),
    comment="what the operator changed while the workers run; null is what the file says",
)

carrier_limit = Table(
    "carrier_limit",
    metadata,
    Column("name", Text, primary_key=True, comment="such as: sender ACME"),
    Column("rate", Double, nullable=False, comment="segments per second, as the file says"),
    Column("changed", Double, comment="the same, as the operator says; 0 lifts it, null is what the file says"),
    Column("reported_at", MOMENT, nullable=False, comment="when a worker last said that it is in the file"),
    CheckConstraint("rate > 0 AND changed >= 0", name="rate"),
    comment="rates of sender IDs and prefixes",
)

carrier_report = Table(
    "carrier_report",
    metadata,
    Column("carrier", Text, nullable=False),
    Column("worker", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("error", Text),
    Column("since", MOMENT, nullable=False),
    Column("rate", Double, nullable=False),
    Column(
        "allowed", Double, nullable=False, comment="segments per second at present, less than the rate after throttling"
    ),
    Column("window", Integer, nullable=False),
    Column(
        "alone",
        Boolean,
        nullable=False,
        comment="without Redis: this worker takes its share of the rate by its own clock",
    ),
    Column(
        "submitted",
        BigInteger,
        nullable=False,
        comment="messages, since the worker was started; the same for the next two",
    ),
    Column("throttled", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("reported_at", MOMENT, nullable=False),
    Column(
        "unreadable",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="receipts and other PDUs that could not be read",
    ),
    Column(
        "unknown_answers",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="answers to nothing that was asked",
    ),
    PrimaryKeyConstraint("carrier", "worker"),
    comment="how each worker finds each carrier, told each second",
)
