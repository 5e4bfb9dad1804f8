"""Carriers at run time: changes by the operator, and reports of the workers."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Double, Integer, PrimaryKeyConstraint, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, NOW, flag, metadata, zero

carrier_setting = Table(
    "carrier_setting",
    metadata,
    Column("name", Text, primary_key=True),
    Column("rate", Double),
    Column("window", Integer),
    flag("paused"),
    Column("changed_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("rate >= 0", name="rate"),
    CheckConstraint('"window" > 0', name="window"),
    comment="the operator's changes; null: the value from CARRIERS_FILE",
)

carrier_limit = Table(
    "carrier_limit",
    metadata,
    Column("name", Text, primary_key=True, comment="for example: sender ACME"),
    Column("rate", Double, nullable=False, comment="segments per second, from CARRIERS_FILE"),
    Column("changed", Double, comment="the operator's rate; 0: no limit; null: the rate from CARRIERS_FILE"),
    Column("reported_at", MOMENT, nullable=False, comment="when a worker last reported it"),
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
        "allowed", Double, nullable=False, comment="segments per second at present; less than the rate after throttling"
    ),
    Column("window", Integer, nullable=False),
    Column(
        "alone",
        Boolean,
        nullable=False,
        comment="Redis is unavailable: this worker takes its share of the rate by its own clock",
    ),
    Column(
        "submitted",
        BigInteger,
        nullable=False,
        comment="messages since the worker started; the next two likewise",
    ),
    Column("throttled", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("reported_at", MOMENT, nullable=False),
    zero("unreadable", BigInteger, comment="receipts and other PDUs that could not be read"),
    zero("unknown_answers", BigInteger, comment="responses without a request"),
    Column(
        "answer_times",
        JSONB,
        nullable=False,
        server_default="{}",
        comment="answers of the last minutes by the upper bound of their time in seconds",
    ),
    Column(
        "receipt_delays",
        JSONB,
        nullable=False,
        server_default="{}",
        comment="receipts of the last minutes by the upper bound of their delay in seconds",
    ),
    PrimaryKeyConstraint("carrier", "worker"),
    comment="the state of each carrier in each worker, reported every second",
)
