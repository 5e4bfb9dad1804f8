"""Column types and helpers that the tables share."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Integer,
    MetaData,
    SmallInteger,
    text,
)
from sqlalchemy.dialects.postgresql import ENUM

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
THIS_TRANSACTION = text("((pg_current_xact_id())::text)::bigint")

MOMENT = DateTime(timezone=True)

message_status = ENUM(*(s.value for s in MessageStatus), name="message_status", metadata=metadata)

send_state = ENUM(*(s.value for s in SendState), name="send_state", metadata=metadata)

batch_state = ENUM(*(s.value for s in BatchState), name="batch_state", metadata=metadata)


def zero(
    name: str,
    kind: type[BigInteger] | type[Integer] | type[SmallInteger] = Integer,
    *,
    comment: str | None = None,
) -> Column[int]:
    """A counter column that starts at 0."""
    return Column(name, kind, nullable=False, server_default=text("0"), comment=comment)


def flag(name: str, *, comment: str | None = None) -> Column[bool]:
    """A column that is false unless it is set."""
    return Column(name, Boolean, nullable=False, server_default=text("false"), comment=comment)
