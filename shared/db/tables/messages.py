"""What happened to each message."""

from sqlalchemy import (
    BigInteger,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    Uuid,
)

from shared.db.tables.base import MOMENT, NOW, message_status, metadata

message = Table(
    "message",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("phone", BigInteger, nullable=False),
    Column("submitted_at", MOMENT, nullable=False),
    Column("finished_at", MOMENT, comment="when we learned that the status is final"),
    Column("status", message_status, nullable=False),
    Column("price", SmallInteger, nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    Column("carrier", Text),
    Column("reference", Text, index=True, comment="the carrier's id of the message, as received"),
    Column("error", Text, comment="the carrier's code, or ours"),
    Column("route", Text, comment="why that carrier; null where there is one"),
    Column(
        "answer_ms",
        Integer,
        comment="milliseconds from submitted_at until it was answered or given up; null: unknown",
    ),
    Column("carrier_at", MOMENT, comment="when the status became final, by the carrier's clock; null: it told no time"),
    Column("carrier_at_precision", SmallInteger, comment="seconds: 60, 1, or 0 for what is finer"),
    Index("ix_message_submitted_at", "submitted_at", postgresql_using="brin", postgresql_with={"autosummarize": "on"}),
    postgresql_partition_by="RANGE (id)",
)
"""One row a message, inserted once with its result. Only what a receipt tells (`status`, `finished_at`, `error`, the
carrier's time) changes afterwards, and none of it is indexed, so that a receipt is a heap-only update."""

attempt = Table(
    "attempt",
    metadata,
    Column("message_id", Uuid, nullable=False),
    Column("submitted_at", MOMENT, nullable=False),
    Column("answer_ms", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("carrier", Text, nullable=False),
    Column("route", Text),
    Column("error", Text),
    PrimaryKeyConstraint("message_id", "submitted_at"),
    comment="submits of a message that a carrier did not take, before the one in its row",
)

resolved_doubt = Table(
    "resolved_doubt",
    metadata,
    Column("message_id", Uuid, primary_key=True),
    Column("since", MOMENT, nullable=False),
    Column("reason", Text),
    Column("resolved_at", MOMENT, nullable=False),
    Column("resolved_by", Text, nullable=False),
    Column("evidence", Text),
    Column("status", message_status, nullable=False),
    comment="how the doubt of a message ended",
)

doubt = Table(
    "doubt",
    metadata,
    Column("message_id", Uuid, primary_key=True),
    Column("carrier", Text, nullable=False),
    Column("sender_id", Text, nullable=False),
    Column("phone", BigInteger, nullable=False, index=True),
    Column("submitted_at", MOMENT, nullable=False),
    Column("expires_at", MOMENT, nullable=False, index=True),
    comment="the messages in doubt, and nothing else: a row comes with the doubt and goes with it",
)

unreadable_receipt = Table(
    "unreadable_receipt",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("carrier", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("octets", LargeBinary, nullable=False),
    Column("received_at", MOMENT, nullable=False, server_default=NOW),
    Index("ix_unreadable_receipt_carrier_id", "carrier", "id"),
    comment="what a carrier delivered and nobody could read, as it came; its newest",
)

receipt = Table(
    "receipt",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("carrier", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("phone", BigInteger),
    Column("status", message_status, nullable=False),
    Column("error", Text),
    Column("done_at", MOMENT, nullable=False),
    Column("received_at", MOMENT, nullable=False, server_default=NOW, index=True),
    Column("sender_id", Text, comment="the sender of the message, where the receipt names it"),
    Column("precision", SmallInteger, comment="of done_at, in seconds; null: the carrier told no time"),
    comment="receipts that found no message yet: they came before the submit's result, or are not ours",
)
