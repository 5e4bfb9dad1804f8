"""Messages that differ by recipient: what goes into them, and their price, batch by batch."""

from alembic import op

revision = "0013"
down_revision = "0012"

SCHEMA = """
ALTER TABLE send ADD COLUMN on_unicode TEXT, ADD COLUMN cost BIGINT, ADD COLUMN unexpanded_credits BIGINT,
    ADD CONSTRAINT ck_send_on_unicode CHECK (on_unicode IN ('send', 'transliterate', 'reject')),
    ADD CONSTRAINT ck_send_credits CHECK (cost >= 0 AND unexpanded_credits >= 0);
COMMENT ON COLUMN send.on_unicode IS 'how texts are made that differ by recipient; null: they do not';
COMMENT ON COLUMN send.cost IS 'credits that were reserved where texts differ; null: price times accepted';
COMMENT ON COLUMN send.unexpanded_credits IS 'reserved for them where texts differ; null: price times them';
ALTER TABLE batch ADD COLUMN segments SMALLINT, ADD COLUMN variables JSONB,
    ADD CONSTRAINT ck_batch_variables CHECK ((segments IS NULL) = (variables IS NULL));
COMMENT ON COLUMN batch.segments IS 'of each message, where they differ in the send; null: as the send says';
COMMENT ON COLUMN batch.variables IS 'values for the text, in the same order; null: the text is the send''s';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
