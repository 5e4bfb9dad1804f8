"""Who may bind to the SMPP server, and who has."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import CIDR

from shared.db.tables.base import MOMENT, NOW, metadata, zero

smpp_credential = Table(
    "smpp_credential",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("system_id", Text, nullable=False, unique=True),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False, index=True),
    Column("password_hash", LargeBinary, nullable=False),
    Column("networks", ARRAY(CIDR), comment="the only networks from which it may bind; null: all"),
    Column("max_binds", SmallInteger, nullable=False),
    Column("window_size", SmallInteger, nullable=False, comment="unanswered PDUs of a bind, in each direction"),
    Column("rate", Integer, comment="submits per second; null: the account's requests per second"),
    Column("alphabet", Text, nullable=False, comment="of data_coding 0"),
    Column("default_sender", Text, comment="the sender ID of submits without a source address"),
    zero("generation", comment="how often its password was rotated, which ends its binds"),
    Column(
        "xid", BigInteger, nullable=False, comment="position in the account's stream: earlier events were delivered"
    ),
    Column("event_id", Uuid, nullable=False),
    zero("epoch", BigInteger, comment="fencing token: rises with each claim"),
    Column("lease_until", MOMENT),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("updated_at", MOMENT, nullable=False, server_default=NOW, comment="when its position was moved last"),
    Column("revoked_at", MOMENT),
    CheckConstraint("length(system_id) BETWEEN 1 AND 15", name="system_id"),
    CheckConstraint("max_binds > 0 AND window_size > 0 AND rate > 0", name="limits"),
    CheckConstraint("alphabet IN ('gsm', 'latin1', 'utf8')", name="alphabet"),
)

smpp_bind = Table(
    "smpp_bind",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("credential_id", Uuid, ForeignKey("smpp_credential.id"), nullable=False, index=True),
    Column("generation", Integer, nullable=False, comment="of the password that it was bound with"),
    Column("kind", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("bound_at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("alive_until", MOMENT, nullable=False, comment="renewed by its process"),
    CheckConstraint("kind IN ('transmitter', 'receiver', 'transceiver')", name="kind"),
    comment="open binds",
)
