"""Rules that a send brings along, who holds a send, scopes of suppressions, ids of sender IDs."""

from alembic import op

revision = "0009"
down_revision = "0008"

SCHEMA = """
ALTER TABLE send ADD COLUMN rules JSONB, ADD COLUMN held_by TEXT;
COMMENT ON COLUMN send.rules IS 'quiet hours, cap, canary and stop_if of this send; null: none of them';
COMMENT ON COLUMN send.held_by IS 'what holds it: operator, crashes, sender_id, canary or stop_if';
CREATE INDEX ix_send_watched ON send (id) WHERE completed_at IS NULL AND (rules ? 'canary' OR rules ? 'stop_if');

ALTER TABLE suppression ADD COLUMN category TEXT DEFAULT '' NOT NULL, ADD COLUMN sender_id TEXT DEFAULT '' NOT NULL;
COMMENT ON COLUMN suppression.category IS 'only of this category; empty: of all';
COMMENT ON COLUMN suppression.sender_id IS 'only from this sender ID; empty: from all';
ALTER TABLE suppression DROP CONSTRAINT pk_suppression;
ALTER TABLE suppression ADD CONSTRAINT pk_suppression PRIMARY KEY (account_id, phone, category, sender_id);

ALTER TABLE sender_id ADD COLUMN id UUID DEFAULT gen_random_uuid() NOT NULL, ADD COLUMN use_case TEXT;
COMMENT ON COLUMN sender_id.use_case IS 'what the account wants it for, in its own words';
CREATE UNIQUE INDEX uq_sender_id_id ON sender_id (id);
CREATE INDEX ix_sender_id_refused ON sender_id (decided_at) WHERE state IN ('suspended', 'rejected');
"""


def upgrade() -> None:
    """Columns with a constant default are added without a rewrite of the table."""
    op.get_bind().connection.cursor().execute(SCHEMA)
