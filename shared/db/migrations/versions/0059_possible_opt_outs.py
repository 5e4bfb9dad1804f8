"""Inbound messages may be possible opt-outs."""

from alembic import op

revision = "0059"
down_revision = "0058"
compatible = True

SCHEMA = """
ALTER TABLE inbound DROP CONSTRAINT ck_inbound_keyword, ADD CONSTRAINT ck_inbound_keyword
    CHECK (keyword IN ('stop', 'start', 'possible_stop')) NOT VALID;
CREATE INDEX ix_suppression_undecided ON suppression (account_id, phone) WHERE reason = 'possible_stop';
"""


def upgrade() -> None:
    """Widen the constraint, and index what waits for a decision."""
    op.execute(SCHEMA)
