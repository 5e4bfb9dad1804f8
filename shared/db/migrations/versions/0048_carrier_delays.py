"""How long carriers take to answer, and their receipts to come, in the reports of workers."""

from alembic import op

revision = "0048"
down_revision = "0047"

compatible = True

SCHEMA = """
ALTER TABLE carrier_report ADD COLUMN answer_times jsonb, ADD COLUMN receipt_delays jsonb;
COMMENT ON COLUMN carrier_report.answer_times IS
    'answers of the last minutes by the upper bound of their time in seconds; null: an older release';
COMMENT ON COLUMN carrier_report.receipt_delays IS
    'receipts of the last minutes by the upper bound of their delay in seconds; null: an older release';
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)
