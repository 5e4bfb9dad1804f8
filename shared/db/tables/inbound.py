"""Inbound messages."""

from sqlalchemy import (
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
    UniqueConstraint,
    Uuid,
)

from shared.db.tables.base import MOMENT, NOW, flag, metadata

inbound = Table(
    "inbound",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), comment="null: the number belongs to no account"),
    Column("carrier", Text, nullable=False),
    Column("identity", Text, comment="the carrier's id, if it has one"),
    Column("phone", Text, nullable=False, comment="the sender, nearly always a phone"),
    Column("sender_id", Text, nullable=False, comment="the number that it was sent to"),
    Column("message", Text, nullable=False),
    Column("segments", SmallInteger, nullable=False),
    Column("missing", SmallInteger, nullable=False, comment="number of segments that did not arrive"),
    Column("keyword", Text),
    Column("received_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("keyword IN ('stop', 'start', 'possible_stop')", name="keyword"),
    UniqueConstraint("carrier", "identity"),
    Index("ix_inbound_account_id_id", "account_id", "id"),
    Index("ix_inbound_account_id_phone_id", "account_id", "phone", "id"),
)

inbound_part = Table(
    "inbound_part",
    metadata,
    Column("carrier", Text, nullable=False),
    Column("phone", Text, nullable=False),
    Column("sender_id", Text, nullable=False),
    Column("reference", Integer, nullable=False),
    Column("total", SmallInteger, nullable=False),
    Column("number", SmallInteger, nullable=False),
    Column("text", LargeBinary, nullable=False, comment="UTF-16, as a part may end within a character"),
    Column("charset", Text, comment="of the octets of which text has the hex; null: text is the text"),
    flag("whole", comment="the message is complete and stored"),
    Column("received_at", MOMENT, nullable=False, server_default=NOW, index=True),
    PrimaryKeyConstraint("carrier", "phone", "sender_id", "reference", "total", "number"),
    CheckConstraint("number BETWEEN 1 AND total", name="number"),
    comment="parts of long messages; kept a little longer than needed, as carriers repeat them",
)
