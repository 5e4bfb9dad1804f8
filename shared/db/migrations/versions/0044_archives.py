"""Weeks of messages that are kept in files."""

from alembic import op

revision = "0044"
down_revision = "0043"

compatible = True

SCHEMA = """
CREATE TABLE archived_week (
    began_at timestamptz NOT NULL,
    first_id uuid NOT NULL,
    end_id uuid NOT NULL,
    sealed_at timestamptz NOT NULL,
    messages bigint,
    sha256 text,
    written_at timestamptz,
    restored_at timestamptz,
    CONSTRAINT pk_archived_week PRIMARY KEY (began_at),
    CONSTRAINT ck_archived_week_written
        CHECK ((messages IS NULL) = (sha256 IS NULL) AND (messages IS NULL) = (written_at IS NULL))
);
COMMENT ON TABLE archived_week IS 'weeks whose messages were moved to files; a row is never deleted';
COMMENT ON COLUMN archived_week.began_at IS 'its Monday, UTC';
COMMENT ON COLUMN archived_week.first_id IS 'the smallest id of the week';
COMMENT ON COLUMN archived_week.end_id IS 'the smallest id of the next week';
COMMENT ON COLUMN archived_week.sealed_at IS
    'when it was archived first; forgetting its sends since then leaves its usage as it is';
COMMENT ON COLUMN archived_week.messages IS 'messages in the file; null: it is not written yet';
COMMENT ON COLUMN archived_week.sha256 IS 'checksum of the file';
COMMENT ON COLUMN archived_week.written_at IS 'the file lacks what was forgotten or erased until then';
COMMENT ON COLUMN archived_week.restored_at IS 'since when its messages are in the database again';
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)
