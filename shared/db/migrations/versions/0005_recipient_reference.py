"""References of the recipients of a list."""

from alembic import op

revision = "0005"
down_revision = "0004"
compatible = True

SCHEMA = """
CREATE TABLE recipient_reference (
    message_id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    reference TEXT NOT NULL,
    CONSTRAINT pk_recipient_reference PRIMARY KEY (message_id)
);
CREATE INDEX ix_recipient_reference_account_id ON recipient_reference (account_id, reference, message_id);
COMMENT ON TABLE recipient_reference IS 'references that recipients of lists have of their own, by message';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
