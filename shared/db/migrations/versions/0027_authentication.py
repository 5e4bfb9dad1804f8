"""The category `authentication` is a right of an account, or of one of its sender IDs; those that are there keep it."""

from alembic import op

revision = "0027"
down_revision = "0026"

SCHEMA = """
ALTER TABLE account ADD COLUMN authentication BOOLEAN DEFAULT true NOT NULL;
ALTER TABLE account ALTER COLUMN authentication SET DEFAULT false;
COMMENT ON COLUMN account.authentication IS 'whether its sends may be of the category authentication';
ALTER TABLE sender_id ADD COLUMN authentication BOOLEAN DEFAULT false NOT NULL;
COMMENT ON COLUMN sender_id.authentication IS 'whether sends from it may, whatever the account may';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
