"""A batch knows its send's lane, so that authentication is found where a carrier has a share for it.

And the turns of what is being sent are found: the queue's clock is the smallest of all that are not over.
"""

from alembic import op

revision = "0019"
down_revision = "0018"

SCHEMA = """
ALTER TABLE batch ADD COLUMN lane SMALLINT;
COMMENT ON COLUMN batch.lane IS 'its send''s; null: it had ended before carriers had shares for lanes';
UPDATE batch b SET lane = s.lane FROM send s WHERE s.id = b.send_id AND b.state NOT IN ('done', 'canceled', 'expired');
CREATE INDEX ix_batch_authentication ON batch (carrier, turn, id) WHERE state = 'queued' AND lane = 0;
COMMENT ON COLUMN account.turns IS 'where the last batch ends in fair order, per lane';
DROP INDEX ix_batch_sending;
CREATE INDEX ix_batch_sending ON batch (turn) WHERE state = 'sending';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
