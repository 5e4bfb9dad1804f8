"""Receipts that cannot be read are kept, and counted by each worker."""

from alembic import op

revision = "0029"
down_revision = "0028"

SCHEMA = """
CREATE TABLE unreadable_receipt (
    id bigint GENERATED ALWAYS AS IDENTITY,
    carrier text NOT NULL,
    reason text NOT NULL,
    octets bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_unreadable_receipt PRIMARY KEY (id)
);
COMMENT ON TABLE unreadable_receipt IS 'what a carrier delivered and nobody could read, as it came; its newest';
CREATE INDEX ix_unreadable_receipt_carrier_id ON unreadable_receipt (carrier, id);
ALTER TABLE carrier_report ADD COLUMN unreadable bigint NOT NULL DEFAULT 0;
ALTER TABLE carrier_report ADD COLUMN unknown_answers bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN carrier_report.unreadable IS 'receipts and other PDUs that could not be read';
COMMENT ON COLUMN carrier_report.unknown_answers IS 'answers to nothing that was asked';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
