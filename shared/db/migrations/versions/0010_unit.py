"""The unit of amounts, which an installation keeps."""

from alembic import op

revision = "0010"
down_revision = "0009"
compatible = True


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE installation ADD COLUMN unit TEXT;
        COMMENT ON COLUMN installation.unit IS 'what a credit is worth, once UNIT has named a currency';
        """
    )
