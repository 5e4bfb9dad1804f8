"""Every attempt of a message, how its doubt ended, and the carrier's own times.

A message's row keeps how long its last attempt took and the time in its last receipt. Earlier attempts, which few
messages have, and doubts that have ended are rows of their own.
"""

from alembic import op

revision = "0035"
down_revision = "0034"

SCHEMA = """
ALTER TABLE message
    ADD COLUMN answer_ms integer,
    ADD COLUMN carrier_at timestamptz,
    ADD COLUMN carrier_at_precision smallint;
COMMENT ON COLUMN message.answer_ms IS 'milliseconds from submitted_at until it was answered or given up; null: unknown';
COMMENT ON COLUMN message.carrier_at IS 'when the status became final, by the carrier''s clock; null: it told no time';
COMMENT ON COLUMN message.carrier_at_precision IS 'seconds: 60, 1, or 0 for what is finer';
COMMENT ON COLUMN message.finished_at IS 'when we learned that the status is final';
ALTER TABLE receipt ADD COLUMN precision smallint;
COMMENT ON COLUMN receipt.precision IS 'of done_at, in seconds; null: the carrier told no time';

CREATE TABLE attempt (
    message_id uuid NOT NULL,
    submitted_at timestamptz NOT NULL,
    answer_ms integer NOT NULL,
    answer text NOT NULL,
    carrier text NOT NULL,
    route text,
    error text,
    CONSTRAINT pk_attempt PRIMARY KEY (message_id, submitted_at)
);
COMMENT ON TABLE attempt IS 'submits of a message that a carrier did not take, before the one in its row';

CREATE TABLE resolved_doubt (
    message_id uuid NOT NULL,
    since timestamptz NOT NULL,
    reason text,
    resolved_at timestamptz NOT NULL,
    resolved_by text NOT NULL,
    evidence text,
    status message_status NOT NULL,
    CONSTRAINT pk_resolved_doubt PRIMARY KEY (message_id)
);
COMMENT ON TABLE resolved_doubt IS 'how the doubt of a message ended';
"""
"""Columns without a value need no rewrite of a table."""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
