"""How many messages an account may send to a phone within an hour, where it is not as the installation says."""

from alembic import op

revision = "0034"
down_revision = "0033"

SCHEMA = """
ALTER TABLE account_limit ADD COLUMN recipient_authentication INTEGER;
ALTER TABLE account_limit ADD COLUMN recipient_transactional INTEGER;
ALTER TABLE account_limit ADD COLUMN recipient_marketing INTEGER;
COMMENT ON COLUMN account_limit.recipient_authentication IS
    'messages of the category to a phone within an hour; 0: any number; null: as the installation says';
ALTER TABLE account_limit ADD CONSTRAINT ck_account_limit_recipient CHECK (recipient_authentication >= 0
    AND recipient_transactional >= 0 AND recipient_marketing >= 0);
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
