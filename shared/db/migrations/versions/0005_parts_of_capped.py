"""Says which messages that count against a cap are parts of one long message."""

from alembic import op

revision = "0005"
down_revision = "0004"
compatible = True

PART_OF = """
ALTER TABLE capped ADD COLUMN part_of integer[];
COMMENT ON COLUMN capped.part_of IS 'reference and number of parts of the long message that it is a part of; null: none'
"""


def upgrade() -> None:
    op.execute(PART_OF)
