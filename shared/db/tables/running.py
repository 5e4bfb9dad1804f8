"""What the running service keeps of itself."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Identity,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, message_status, metadata

lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("held_until", MOMENT, nullable=False),
    Column("incarnation", Text, comment="of the database, that this worker has compared with what it had seen"),
)

job_failure = Table(
    "job_failure",
    metadata,
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False, comment="the id of what failed"),
    Column("account_id", BigInteger),
    Column("failures", Integer, nullable=False, comment="in a row"),
    Column("error", Text, nullable=False, comment="its kind and place; nothing of the data"),
    Column("failed_at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("retry_at", MOMENT, nullable=False),
    Column("set_aside_at", MOMENT, comment="since when it waits for the operator"),
    PrimaryKeyConstraint("kind", "subject"),
    comment="jobs that failed and did not succeed since: shared/job_failures.py",
)

installation = Table(
    "installation",
    metadata,
    Column("id", Uuid, primary_key=True, server_default=text("gen_random_uuid()")),
    Column("mark", BigInteger, nullable=False, server_default=text("0"), comment="rises each second while workers run"),
    Column("looked_at", MOMENT),
    Column("checked", Text, comment="the incarnation of the database whose mark was compared with those outside"),
    Column("held_since", MOMENT, comment="nothing is sent: the database was found to be older than it once was"),
    Column("held_reason", Text),
    Column("written", Text, comment="the database, table and transaction that wrote this row last: no dump keeps it"),
    Column("timeline", Text, comment="of the database when its incarnation was confirmed"),
    Column(
        "synchronous", Boolean, nullable=False, server_default=text("false"), comment="commits are also on a standby"
    ),
    Column(
        "file_noted", Boolean, nullable=False, server_default=text("false"), comment="the mark stands in a file too"
    ),
    Column("examined", Text, comment="the incarnation whose witnesses are waited for"),
    Column("examined_since", MOMENT),
    Column("witnessed", Boolean, nullable=False, server_default=text("false"), comment="one of them knew its mark"),
    Column("behind", BigInteger, nullable=False, server_default=text("0"), comment="how far the mark was behind"),
    Column(
        "erasure_key",
        Uuid,
        nullable=False,
        server_default=text("gen_random_uuid()"),
        comment="of the hashes that stand for erased phones",
    ),
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
    Column("carrier", Text, nullable=False, server_default="simulator"),
    comment="what the simulated carrier still has to report; a real carrier keeps this on its side",
)

simulated_submit = Table(
    "simulated_submit",
    metadata,
    Column("message_id", Uuid, nullable=False, index=True),
    Column("phone", BigInteger, nullable=False),
    Column("at", MOMENT, nullable=False, server_default=text("clock_timestamp()")),
    Column("carrier", Text, nullable=False, server_default="simulator"),
    comment="what the simulated carrier was given, in its own books: more than one row a message is a duplicate",
)
