"""The ledger, and the statements that are cut from it."""

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    ForeignKey,
    Identity,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, metadata, zero

ledger = Table(
    "ledger",
    metadata,
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("debit", Text, nullable=False, comment="the book that the amount leaves"),
    Column("credit", Text, nullable=False, comment="the book that the amount enters"),
    Column("amount", BigInteger, nullable=False),
    Column("subject_type", Text, nullable=False),
    Column(
        "subject",
        Uuid,
        nullable=False,
        comment="the top-up, adjustment, send, batch or message that the amount belongs to",
    ),
    zero("step"),
    Column("reason", Text),
    Column("created_at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    CheckConstraint("amount > 0", name="amount"),
    CheckConstraint("subject_type IN ('topup', 'adjustment', 'send', 'batch', 'message')", name="subject_type"),
    CheckConstraint(
        "(kind, debit, credit) IN (('topup', 'funding', 'available'), ('reserve', 'available', 'reserved'),"
        " ('capture', 'reserved', 'revenue'), ('release', 'reserved', 'available'),"
        " ('refund', 'revenue', 'available'), ('reversal', 'available', 'funding'),"
        " ('adjustment', 'funding', 'available'), ('adjustment', 'available', 'funding'))",
        name="double_entry",
    ),
    PrimaryKeyConstraint("account_id", "id"),
    UniqueConstraint("subject", "kind", "step", name="uq_ledger_operation"),
    comment="append-only: a trigger refuses UPDATE, DELETE and TRUNCATE",
)

statement = Table(
    "statement",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), primary_key=True),
    Column("month", Date, primary_key=True, comment="its first day, UTC"),
    Column("opening", BigInteger, nullable=False),
    Column("lines", JSON, nullable=False, comment="what was posted, summed up; closed statements never change"),
    Column("counted_to", MOMENT, nullable=False, comment="what was posted before is in the lines"),
    Column("ledger_id", BigInteger, nullable=False, comment="no entry up to this one is still to be counted"),
    Column("closed_at", MOMENT, comment="when all of the month was counted; null: not yet"),
    comment="the months of an account, without gaps",
)
