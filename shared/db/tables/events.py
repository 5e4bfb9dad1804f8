"""Events of accounts, for webhooks and the event stream."""

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, THIS_TRANSACTION, metadata

event = Table(
    "event",
    metadata,
    Column("id", Uuid, primary_key=True, comment="its last 16 bits are zero; they number the row's events"),
    Column(
        "xid", BigInteger, nullable=False, server_default=THIS_TRANSACTION, comment="the order in which events are read"
    ),
    Column("account_id", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("send_id", Uuid),
    Column("batch_id", Uuid),
    Column(
        "indexes", ARRAY(SmallInteger), comment="indexes of the messages in the batch, one event each; null: one event"
    ),
    Column("error", Text),
    Column("data", JSON),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Index("ix_event_account_id_xid_id", "account_id", "xid", "id"),
    comment="one row for messages that changed together; kept for some days",
)

listener = Table(
    "listener",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), primary_key=True),
    Column("pulled_at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    comment="accounts whose events are stored",
)
