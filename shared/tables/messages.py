"""What happened to each message."""

from sqlalchemy import (
    BigInteger,
    Column,
    Identity,
    Index,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    Uuid,
)

from shared.tables.base import MOMENT, NOW, message_status, metadata

message = Table(
    "message",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("phone", BigInteger, nullable=False),
    Column("submitted_at", MOMENT, nullable=False),
    Column("finished_at", MOMENT, comment="when the status became final"),
    Column("status", message_status, nullable=False),
    Column("price", SmallInteger, nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    Column("carrier", Text),
    Column("reference", Text, index=True, comment="the carrier's id of the message, as received"),
    Column("error", Text, comment="the carrier's code, or ours"),
    Column("route", Text, comment="why that carrier; null where there is one"),
    Index("ix_message_submitted_at", "submitted_at", postgresql_using="brin", postgresql_with={"autosummarize": "on"}),
    postgresql_partition_by="RANGE (id)",
)
"""One row a message, inserted once with its result. Only `status`, `finished_at` and `error` change afterwards, and
none of them is indexed, so that a receipt is a heap-only update."""

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
    comment="receipts that found no message yet: they came before the submit's result, or are not ours",
)
