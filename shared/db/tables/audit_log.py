"""The audit log of changes to rights and money."""

from sqlalchemy import BigInteger, Column, ForeignKey, Identity, Index, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, metadata

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("account_id", BigInteger, ForeignKey("account.id")),
    Column("actor", Text, nullable=False, comment="an API key, a person, an operator, or a worker"),
    Column("action", Text, nullable=False, comment="type of the object and of the change, such as key.created"),
    Column("subject", Text, comment="id of the object"),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("reason", Text),
    Column("request_id", Text),
    Column("address", Text),
    Index("ix_audit_log_account_id_id", "account_id", "id"),
    comment="changes of rights and money; append-only: a trigger refuses UPDATE, DELETE and TRUNCATE",
)
