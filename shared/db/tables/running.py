"""State of the running service: leases, job failures, the installation and its keys, and the simulated carrier."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Identity,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.base import MOMENT, NOW, flag, message_status, metadata, zero

lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("held_until", MOMENT, nullable=False),
    Column(
        "incarnation",
        Text,
        comment="the incarnation of the database that this worker has compared with what it had seen",
    ),
    Column(
        "clock_offset",
        Double,
        comment="seconds by which the clock of the holder's machine is ahead of the database's",
    ),
)

audit_result = Table(
    "audit_result",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("began_at", MOMENT, nullable=False),
    Column("completed_at", MOMENT, nullable=False),
    Column("full", Boolean, nullable=False, comment="whether everything was checked, or open and recent sends"),
    Column("breaches", JSONB, nullable=False),
    Column("frozen", ARRAY(BigInteger), nullable=False, comment="accounts that were frozen because of the breaches"),
    comment="results of audits; the newest are kept",
)

state_count = Table(
    "state_count",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False, server_default=text("1")),
    Column("due_at", MOMENT, nullable=False, comment="when it is counted again"),
    Column("counted_at", MOMENT, comment="null: it is being counted for the first time"),
    Column("counts", JSONB),
    CheckConstraint("id = 1", name="single"),
    comment="one row: what GET /metrics counts in tables that grow",
)

job_failure = Table(
    "job_failure",
    metadata,
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False, comment="id of the object whose job failed"),
    Column("account_id", BigInteger),
    Column("failures", Integer, nullable=False, comment="number of failures in a row"),
    Column("error", Text, nullable=False, comment="type and location of the error, without data"),
    Column("failed_at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("retry_at", MOMENT, nullable=False),
    Column("set_aside_at", MOMENT, comment="since when it waits for the operator"),
    PrimaryKeyConstraint("kind", "subject"),
    comment="jobs that have failed and not succeeded since: shared/job_failures.py",
)

job_turn = Table(
    "job_turn",
    metadata,
    Column("kind", Text, nullable=False),
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("taken_at", MOMENT, nullable=False, comment="when a job of the account was begun last"),
    PrimaryKeyConstraint("kind", "account_id"),
    comment="whose turn it is with background jobs: worker/jobs/turns.py",
)

installation = Table(
    "installation",
    metadata,
    Column("id", Uuid, primary_key=True, server_default=text("gen_random_uuid()")),
    zero("mark", BigInteger, comment="rises every second while workers run"),
    Column("looked_at", MOMENT),
    Column("checked", Text, comment="the incarnation of the database whose mark was compared with the notes outside"),
    Column("held_since", MOMENT, comment="sending is held since then: the database has lost commits"),
    Column("held_reason", Text),
    Column(
        "written",
        Text,
        comment="the database, table and transaction that wrote this row last; a dump does not preserve them",
    ),
    Column("timeline", Text, comment="the database's timeline when its incarnation was confirmed"),
    flag("synchronous", comment="whether commits wait for a standby"),
    flag("file_noted", comment="whether the mark is noted in a file too"),
    Column("examined", Text, comment="the incarnation whose witnesses are awaited"),
    Column("examined_since", MOMENT),
    flag("witnessed", comment="whether a witness has confirmed it"),
    zero("behind", BigInteger, comment="how far the mark was behind"),
    Column(
        "erasure_key",
        Uuid,
        nullable=False,
        server_default=text("gen_random_uuid()"),
        comment="key of the hashes that replace erased phones",
    ),
    Column("unit", Text, comment="what a credit is worth, once UNIT has named a currency"),
    comment="one row: the identity of this installation, and its mark",
)

compatibility = Table(
    "compatibility",
    metadata,
    Column("oldest_code", Text, primary_key=True),
    comment="one row: the revision of the oldest release that can use this database",
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
    Column("carrier", Text, nullable=False, server_default="simulator"),
    comment="receipts that the simulated carrier will deliver",
)

simulated_submit = Table(
    "simulated_submit",
    metadata,
    Column("message_id", Uuid, nullable=False, index=True),
    Column("phone", BigInteger, nullable=False),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("carrier", Text, nullable=False, server_default="simulator"),
    comment="messages that the simulated carrier accepted; more than one row per message is a duplicate",
)

text_key = Table(
    "text_key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("proof", Text, nullable=False, comment="a known text, encrypted with the key"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    comment="keys that have encrypted texts; a process without one of them does not start",
)
