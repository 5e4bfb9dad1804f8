"""The request that made a send, if it is logged; and the oldest code that can use the database."""

from alembic import op

revision = "0040"
down_revision = "0039"

compatible = False  # older code knows of no newer database that it could use

SCHEMA = """
ALTER TABLE send ADD COLUMN request_id text;
COMMENT ON COLUMN send.request_id IS 'the request that made it, if that is logged: workers then log its batches';
CREATE TABLE compatibility (
    oldest_code text NOT NULL,
    CONSTRAINT pk_compatibility PRIMARY KEY (oldest_code)
);
COMMENT ON TABLE compatibility IS 'one row: the revision of the oldest release that can use this database';
INSERT INTO compatibility VALUES ('0040');
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
