"""Webhooks and their deliveries."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
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

from shared.db.tables.base import MOMENT, NOW, metadata, zero
from shared.lifecycle import DELIVERY_STATES

webhook = Table(
    "webhook",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False, index=True),
    Column("url", Text, comment="null: each send's callback_url"),
    Column("events", ARRAY(Text), comment="event types to deliver; null: all"),
    Column("description", Text),
    Column("state", Text, nullable=False, server_default="active"),
    Column("disabled_reason", Text),
    Column(
        "secret_version",
        SmallInteger,
        nullable=False,
        server_default=text("1"),
        comment="see shared/events/webhooks.py",
    ),
    Column(
        "secret_key_id",
        LargeBinary,
        comment="id of the SECRET_KEY that its secret is derived from; null: of a `callback_url`",
    ),
    Column(
        "previous_until",
        MOMENT,
        comment="until then deliveries are also signed with the secrets from oldest_version on",
    ),
    Column("oldest_version", SmallInteger, comment="null: the one before secret_version"),
    Column(
        "xid", BigInteger, nullable=False, comment="position in the account's stream: earlier events were delivered"
    ),
    Column("event_id", Uuid, nullable=False),
    zero("failures"),
    Column("failing_since", MOMENT, comment="no delivery has succeeded since then"),
    Column("rest_until", MOMENT, comment="no delivery is attempted until then"),
    zero("epoch", BigInteger, comment="fencing token: rises with each claim"),
    Column("lease_until", MOMENT),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("state IN ('active', 'disabled', 'deleted')", name="state"),
    Index("ix_webhook_live", "account_id", "id", postgresql_where=text("state <> 'deleted'")),
    Index(
        "uq_webhook_callback",
        "account_id",
        unique=True,
        postgresql_where=text("url IS NULL AND state <> 'deleted'"),
    ),
)

delivery = Table(
    "delivery",
    metadata,
    Column("webhook_id", Uuid, ForeignKey("webhook.id"), nullable=False),
    Column("event_id", Uuid, nullable=False),
    Column("type", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    Column("next_at", MOMENT, comment="time of the next attempt, while pending"),
    Column("url", Text, nullable=False),
    Column("http_status", SmallInteger),
    Column("error", Text),
    Column("milliseconds", Integer, comment="duration of the last attempt"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    PrimaryKeyConstraint("webhook_id", "event_id"),
    CheckConstraint(f"state IN {DELIVERY_STATES}", name="state"),
    CheckConstraint("(state = 'pending') = (next_at IS NOT NULL)", name="next_at"),
    Index("ix_delivery_pending", "webhook_id", "next_at", postgresql_where=text("state = 'pending'")),
    comment="an event delivered to a webhook, with the result",
)
