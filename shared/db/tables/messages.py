"""Messages, their attempts, doubts, receipts and exports; weeks that are kept in files; erasures of personal data."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
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
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, NOW, message_status, metadata, zero

message = Table(
    "message",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("phone", BigInteger, nullable=False),
    Column("submitted_at", MOMENT, nullable=False),
    Column("finished_at", MOMENT, comment="when we learned the final status"),
    Column("status", message_status, nullable=False),
    Column("price", BigInteger, nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    Column("carrier", Text),
    Column("reference", Text, index=True, comment="the carrier's message id, as received"),
    Column("error", Text, comment="the carrier's error code, or ours"),
    Column("route", Text, comment="why it went to that carrier; null with a single carrier"),
    Column(
        "answer_ms",
        Integer,
        comment="milliseconds from submitted_at until the carrier answered or was given up; null: unknown",
    ),
    Column("carrier_at", MOMENT, comment="when the status became final, by the carrier's clock; null: not reported"),
    Column("carrier_at_precision", SmallInteger, comment="in seconds: 60, 1, or 0 for fractions"),
    Index("ix_message_submitted_at", "submitted_at", postgresql_using="brin", postgresql_with={"autosummarize": "on"}),
    postgresql_partition_by="RANGE (id)",
)
"""One row per message, inserted with its result. Only receipts update it (`status`, `finished_at`, `error`, the
carrier's time); these columns are not indexed, so that the update is heap-only."""

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
    comment="failed attempts of messages; the last attempt is in the message's row",
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
    comment="how messages in doubt were resolved",
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
    comment="messages in doubt; a row is deleted when the doubt is resolved",
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
    comment="the newest receipts that could not be read, as received",
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
    Column("sender_id", Text, comment="sender of the message, if the receipt names it"),
    Column("precision", SmallInteger, comment="precision of done_at, in seconds; null: the carrier reported no time"),
    comment="receipts without a message: they came before the submit's result, or are not ours",
)

message_export = Table(
    "message_export",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("format", Text, nullable=False),
    Column("query", JSONB, nullable=False, comment="the filters"),
    Column("position", Text, comment="where the next page begins: shared.messages.search"),
    zero("chunks", comment="number of chunks"),
    zero("rows", BigInteger),
    Column("reached_at", MOMENT, comment="when the last message found was accepted"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("finished_at", MOMENT, comment="null: its file is being made"),
    Index("ix_message_export_account_id_created_at", "account_id", "created_at"),
    Index("ix_message_export_open", "created_at", postgresql_where=text("finished_at IS NULL")),
    comment="a file of an account's messages, which is kept for a week",
)

export_chunk = Table(
    "export_chunk",
    metadata,
    Column("export_id", Uuid, ForeignKey("message_export.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("export_id", "number"),
    comment="a part of an export's file, in whole lines",
)

archived_week = Table(
    "archived_week",
    metadata,
    Column("began_at", MOMENT, primary_key=True, comment="its Monday, UTC"),
    Column("first_id", Uuid, nullable=False, comment="the smallest id of the week"),
    Column("end_id", Uuid, nullable=False, comment="the smallest id of the next week"),
    Column(
        "sealed_at",
        MOMENT,
        nullable=False,
        comment="when it was archived first; forgetting its sends since then leaves its usage as it is",
    ),
    Column("messages", BigInteger, comment="messages in the file; null: it is not written yet"),
    Column("sha256", Text, comment="checksum of the file"),
    Column("written_at", MOMENT, comment="the file lacks what was forgotten or erased until then"),
    Column("restored_at", MOMENT, comment="since when its messages are in the database again"),
    CheckConstraint(
        "(messages IS NULL) = (sha256 IS NULL) AND (messages IS NULL) = (written_at IS NULL)", name="written"
    ),
    comment="weeks whose messages were moved to files; a row is never deleted",
)

erasure = Table(
    "erasure",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("phone", BigInteger),
    Column("due_at", MOMENT, nullable=False),
    Column("waiting", ARRAY(Uuid), comment="batches that workers still have; null: not searched yet"),
    Column("counts", JSONB, nullable=False, server_default="{}"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("completed_at", MOMENT),
    CheckConstraint("(phone IS NULL) = (completed_at IS NOT NULL)", name="phone"),
    Index("ix_erasure_account_id_id", "account_id", "id"),
    Index("ix_erasure_due_at", "due_at", postgresql_where=text("completed_at IS NULL")),
    Index("ix_erasure_account_id_phone", "account_id", "phone", postgresql_where=text("completed_at IS NULL")),
    comment="requests to erase a person's data; the phone is erased with it",
)
