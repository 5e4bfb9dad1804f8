"""Several carriers: which one a batch goes through and why, their live settings, and how their workers find them."""

from alembic import op

revision = "0010"
down_revision = "0009"

SCHEMA = """
ALTER TABLE batch ADD COLUMN carrier TEXT;
ALTER TABLE batch ADD COLUMN portion SMALLINT;
ALTER TABLE batch ADD COLUMN route TEXT;
ALTER TABLE send ADD COLUMN carrier TEXT;
ALTER TABLE message ADD COLUMN route TEXT;
ALTER TABLE simulated_receipt ADD COLUMN carrier TEXT DEFAULT 'simulator' NOT NULL;
ALTER TABLE simulated_submit ADD COLUMN carrier TEXT DEFAULT 'simulator' NOT NULL;
COMMENT ON COLUMN batch.carrier IS 'whose queue it stands in; null until it is sorted, and always where there is one';
COMMENT ON COLUMN batch.portion IS 'of retry, how many go through that carrier; null is all that is left';
COMMENT ON COLUMN batch.route IS 'why that carrier';
COMMENT ON COLUMN send.carrier IS 'the only one it may go through; null leaves it to the routes';
COMMENT ON COLUMN message.route IS 'why that carrier; null where there is one';
CREATE INDEX ix_batch_carrier ON batch (carrier, turn, id) WHERE state = 'queued' AND carrier IS NOT NULL;
CREATE INDEX ix_batch_awaits ON batch (carrier) WHERE state = 'waiting' AND carrier IS NOT NULL;
CREATE TABLE carrier_setting (
    name TEXT NOT NULL,
    rate DOUBLE PRECISION,
    "window" INTEGER,
    paused BOOLEAN DEFAULT false NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_carrier_setting PRIMARY KEY (name),
    CONSTRAINT ck_carrier_setting_rate CHECK (rate >= 0),
    CONSTRAINT ck_carrier_setting_window CHECK ("window" > 0)
);
COMMENT ON TABLE carrier_setting IS 'what the operator changed while the workers run; null is what the file says';
CREATE TABLE carrier_report (
    carrier TEXT NOT NULL,
    worker TEXT NOT NULL,
    state TEXT NOT NULL,
    error TEXT,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    rate DOUBLE PRECISION NOT NULL,
    allowed DOUBLE PRECISION NOT NULL,
    "window" INTEGER NOT NULL,
    alone BOOLEAN NOT NULL,
    submitted BIGINT NOT NULL,
    throttled BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_carrier_report PRIMARY KEY (carrier, worker)
);
COMMENT ON TABLE carrier_report IS 'how each worker finds each carrier, told each second';
COMMENT ON COLUMN carrier_report.allowed IS 'segments per second at present, less than the rate after throttling';
COMMENT ON COLUMN carrier_report.alone IS 'without Redis: this worker takes its share of the rate by its own clock';
COMMENT ON COLUMN carrier_report.submitted IS 'messages, since the worker was started; the same for the next two';
"""


def upgrade() -> None:
    """Columns that are null, or the same for all, are added without a rewrite."""
    op.get_bind().connection.cursor().execute(SCHEMA)
