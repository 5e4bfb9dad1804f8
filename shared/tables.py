"""The schema, one table after the other, as the migrations leave it.

Amounts are credits, whole numbers: one credit is one segment. Times are UTC. Guarantees that the database itself
holds (checks, uniqueness, append-only) stand beside the table they protect.
"""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ENUM, JSONB

from shared.lifecycle import BatchState, MessageStatus, SendState

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

NOW = text("now()")
MOMENT = DateTime(timezone=True)

message_status = ENUM(*(s.value for s in MessageStatus), name="message_status", metadata=metadata)
send_state = ENUM(*(s.value for s in SendState), name="send_state", metadata=metadata)
batch_state = ENUM(*(s.value for s in BatchState), name="batch_state", metadata=metadata)


def zero(name: str, kind: type[BigInteger] | type[Integer] | type[SmallInteger] = Integer) -> Column[int]:
    """A counter that begins at 0."""
    return Column(name, kind, nullable=False, server_default=text("0"))


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
    Column("turns", ARRAY(BigInteger), nullable=False, server_default="{0,0,0}", comment="last turn given, per lane"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("available >= 0", name="available"),
    CheckConstraint("reserved >= 0", name="reserved"),
    CheckConstraint("weight > 0", name="weight"),
    CheckConstraint("state IN ('active', 'suspended', 'frozen')", name="state"),
)

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
)

revoked_token = Table(
    "revoked_token",
    metadata,
    Column("id", Text, primary_key=True),
    Column("revoked_at", MOMENT, nullable=False, server_default=NOW),
    Column("expires_at", MOMENT, nullable=False, index=True),
)

sender_id = Table(
    "sender_id",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("sender_id", Text, nullable=False),
    Column("state", Text, nullable=False, server_default="pending"),
    Column("reason", Text),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("decided_at", MOMENT),
    PrimaryKeyConstraint("account_id", "sender_id"),
    CheckConstraint("state IN ('pending', 'approved', 'rejected', 'suspended')", name="state"),
)

contact_group = Table(
    "contact_group",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("name", Text, nullable=False),
    zero("contact_count"),
    zero("last_position", BigInteger),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    Column("deleted_at", MOMENT),
    CheckConstraint("contact_count >= 0", name="contact_count"),
    Index(
        "uq_contact_group_account_id_name",
        "account_id",
        "name",
        unique=True,
        postgresql_where=text("deleted_at IS NULL"),
    ),
    comment="contact_count and last_position change in the transaction that changes the contacts",
)

contact = Table(
    "contact",
    metadata,
    Column("group_id", Uuid, ForeignKey("contact_group.id"), nullable=False),
    Column("position", BigInteger, nullable=False, comment="order of arrival in the group, never used again"),
    Column("phone", BigInteger, nullable=False),
    PrimaryKeyConstraint("group_id", "position"),
    UniqueConstraint("group_id", "phone"),
)

suppression = Table(
    "suppression",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("phone", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    PrimaryKeyConstraint("account_id", "phone"),
)

send = Table(
    "send",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("api_key_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", send_state, nullable=False),
    Column("test", Boolean, nullable=False),
    Column("sender_id", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("encoding", Text, nullable=False),
    Column("characters", Integer, nullable=False),
    Column("segments", SmallInteger, nullable=False, comment="segments of one message"),
    Column("price", SmallInteger, nullable=False, comment="credits for one message; 0 with a test key"),
    Column("lane", SmallInteger, nullable=False),
    Column("reference", Text),
    Column("metadata", JSONB),
    Column("rate", Integer, comment="segments per second, at most, for this send"),
    Column("paced_until", MOMENT, comment="when a send with a rate of its own may go on"),
    Column("send_at", MOMENT),
    Column("expires_at", MOMENT, nullable=False),
    Column("group_id", Uuid),
    Column("group_bound", BigInteger, comment="last position in the group when the send was accepted"),
    Column("expanded_to", BigInteger, comment="last position that has a batch; null when expansion is over"),
    zero("unexpanded"),
    zero("open_batches"),
    zero("submitted"),
    zero("accepted"),
    zero("duplicate"),
    zero("invalid"),
    zero("suppressed"),
    zero("removed"),
    zero("in_doubt"),
    zero("sent"),
    zero("rejected"),
    zero("failed"),
    zero("canceled"),
    zero("expired"),
    zero("undelivered"),
    zero("delivered"),
    Column("held_reason", Text),
    Column("created_at", MOMENT, nullable=False),
    Column("completed_at", MOMENT),
    zero("resent"),
    CheckConstraint("kind IN ('single', 'bulk', 'group')", name="kind"),
    CheckConstraint("open_batches >= 0 AND unexpanded >= 0", name="open"),
    Index("ix_send_account_id_id", "account_id", "id"),
    Index("ix_send_open", "expires_at", postgresql_where=text("completed_at IS NULL")),
    Index("ix_send_closing", "id", postgresql_where=text("state = 'canceled' AND completed_at IS NULL")),
    Index("ix_send_due", "send_at", postgresql_where=text("state = 'scheduled'")),
    Index("ix_send_resent", "id", postgresql_where=text("resent > 0")),
    Index("ix_send_expanding", "id", postgresql_where=text("expanded_to IS NOT NULL")),
    postgresql_with={"fillfactor": "50"},
)

send_rejection = Table(
    "send_rejection",
    metadata,
    Column("send_id", Uuid, ForeignKey("send.id"), primary_key=True),
    Column("entries", JSONB, nullable=False, comment="recipients of a bulk send that were not accepted, by index"),
)

batch = Table(
    "batch",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("send_id", Uuid, ForeignKey("send.id"), nullable=False, index=True),
    Column("account_id", BigInteger, nullable=False),
    Column("state", batch_state, nullable=False),
    Column("turn", BigInteger, nullable=False, comment="place in fair order, in virtual microseconds"),
    Column("due_at", MOMENT, nullable=False, server_default=NOW),
    Column("size", SmallInteger, nullable=False),
    Column("recipients", Text, nullable=False, comment="phones in order of their index, a line each"),
    Column("next_index", SmallInteger, nullable=False, server_default=text("1")),
    Column("retry", ARRAY(SmallInteger), comment="indexes below next_index that certainly never left and go first"),
    Column("intent", SmallInteger, nullable=False, server_default=text("0"), comment="messages this turn may submit"),
    Column("watermark", SmallInteger, nullable=False, server_default=text("0"), comment="of these, may have left"),
    Column("epoch", Integer, nullable=False, server_default=text("0"), comment="fences workers that lost the lease"),
    Column("lease_until", MOMENT),
    Column("database_started", MOMENT, comment="start of the database under which the watermark can be trusted"),
    Column("attempts", SmallInteger, nullable=False, server_default=text("0")),
    Column("crashes", SmallInteger, nullable=False, server_default=text("0")),
    CheckConstraint("size > 0 AND next_index BETWEEN 1 AND size + 1", name="next_index"),
    CheckConstraint("watermark BETWEEN 0 AND intent", name="watermark"),
    CheckConstraint("intent = 0 OR state = 'sending'", name="intent"),
    Index("ix_batch_turn", "turn", "id", postgresql_where=text("state = 'queued'")),
    Index("ix_batch_due", "due_at", postgresql_where=text("state = 'waiting'")),
    Index("ix_batch_sending", "id", postgresql_where=text("state = 'sending'")),
    postgresql_with={
        "fillfactor": "70",
        "autovacuum_vacuum_scale_factor": "0.02",
        "autovacuum_vacuum_threshold": "1000",
    },
)

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
    comment="receipts that found no message yet: they came before the submit's result, or are not ours",
)

ledger = Table(
    "ledger",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("debit", Text, nullable=False, comment="the book that the amount leaves"),
    Column("credit", Text, nullable=False, comment="the book that the amount enters"),
    Column("amount", BigInteger, nullable=False),
    Column("subject_type", Text, nullable=False),
    Column("subject", Uuid, nullable=False, comment="the top-up, send, batch or message that the amount belongs to"),
    Column("step", Integer, nullable=False, server_default=text("0")),
    Column("reason", Text),
    Column("created_at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    CheckConstraint("amount > 0", name="amount"),
    CheckConstraint("subject_type IN ('topup', 'send', 'batch', 'message')", name="subject_type"),
    CheckConstraint(
        "(kind, debit, credit) IN (('topup', 'funding', 'available'), ('reserve', 'available', 'reserved'),"
        " ('capture', 'reserved', 'revenue'), ('release', 'reserved', 'available'),"
        " ('refund', 'revenue', 'available'))",
        name="double_entry",
    ),
    UniqueConstraint("subject", "kind", "step", name="uq_ledger_operation"),
    Index("ix_ledger_account_id_id", "account_id", "id"),
    comment="append-only: a trigger refuses UPDATE, DELETE and TRUNCATE",
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("path", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("answer", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW, index=True),
    PrimaryKeyConstraint("account_id", "path", "key"),
)

lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("held_until", MOMENT, nullable=False),
)

installation = Table(
    "installation",
    metadata,
    Column("id", Uuid, primary_key=True, server_default=text("gen_random_uuid()")),
    Column("mark", BigInteger, nullable=False, server_default=text("0"), comment="rises each second while workers run"),
    Column("looked_at", MOMENT),
    Column("checked", Text, comment="the incarnation of the database whose mark was compared with those outside"),
    Column("held_since", MOMENT, comment="nothing is sent: the database was found to be older than it once was"),
    Column("behind", BigInteger, nullable=False, server_default=text("0"), comment="how far the mark was behind"),
    comment="one row: which installation this is, and how far it has come",
)

simulated_receipt = Table(
    "simulated_receipt",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("reference", Text, nullable=False),
    Column("phone", BigInteger, nullable=False),
    Column("status", message_status, nullable=False),
    Column("error", Text),
    Column("due_at", MOMENT, nullable=False, index=True),
    comment="what the simulated carrier still has to report; a real carrier keeps this on its side",
)

simulated_submit = Table(
    "simulated_submit",
    metadata,
    Column("message_id", Uuid, nullable=False, index=True),
    Column("phone", BigInteger, nullable=False),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    comment="what the simulated carrier was given, in its own books: more than one row a message is a duplicate",
)
