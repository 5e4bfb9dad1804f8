"""The table `import_piece` is now `import_chunk`.

A view with the old name serves processes of the previous release, which delete by `ctid`.
"""

from alembic import op

from shared.db.migrations.grants import same_grants

revision = "0056"
down_revision = "0055"

compatible = True

SCHEMA = """
ALTER TABLE import_piece RENAME TO import_chunk;
ALTER TABLE import_chunk RENAME CONSTRAINT pk_import_piece TO pk_import_chunk;
ALTER TABLE import_chunk RENAME CONSTRAINT fk_import_piece_import_id TO fk_import_chunk_import_id;
COMMENT ON COLUMN contact_import.pieces IS 'number of chunks';
COMMENT ON COLUMN contact_import.next_piece IS 'the chunk to import next';

CREATE VIEW import_piece AS SELECT ctid, import_id, number, content FROM import_chunk;
COMMENT ON VIEW import_piece IS 'import_chunk as processes of the previous release know it';
"""


def upgrade() -> None:
    """Rename it."""
    op.execute(SCHEMA)
    op.execute(same_grants("import_chunk", "import_piece", "SELECT", "INSERT", "UPDATE", "DELETE"))
