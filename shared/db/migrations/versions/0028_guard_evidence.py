"""What tells a database that was restored, copied or promoted from one that was only started again."""

from alembic import op

revision = "0028"
down_revision = "0027"

SCHEMA = """
ALTER TABLE lease ADD COLUMN incarnation TEXT;
COMMENT ON COLUMN lease.incarnation IS 'of the database, that this worker has compared with what it had seen';
ALTER TABLE installation
    ADD COLUMN held_reason TEXT,
    ADD COLUMN written TEXT,
    ADD COLUMN timeline TEXT,
    ADD COLUMN synchronous BOOLEAN DEFAULT false NOT NULL,
    ADD COLUMN file_noted BOOLEAN DEFAULT false NOT NULL,
    ADD COLUMN examined TEXT,
    ADD COLUMN examined_since TIMESTAMP WITH TIME ZONE,
    ADD COLUMN witnessed BOOLEAN DEFAULT false NOT NULL;
COMMENT ON COLUMN installation.written IS
    'the database, table and transaction that wrote this row last: no dump keeps it';
COMMENT ON COLUMN installation.timeline IS 'of the database when its incarnation was confirmed';
COMMENT ON COLUMN installation.synchronous IS 'commits are also on a standby';
COMMENT ON COLUMN installation.file_noted IS 'the mark stands in a file too';
COMMENT ON COLUMN installation.examined IS 'the incarnation whose witnesses are waited for';
COMMENT ON COLUMN installation.witnessed IS 'one of them knew its mark';
UPDATE installation SET held_reason = 'the database is older than it once was' WHERE held_since IS NOT NULL;
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
