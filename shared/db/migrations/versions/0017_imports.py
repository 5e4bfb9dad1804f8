"""Files of contacts on their way into groups."""

from alembic import op

revision = "0017"
down_revision = "0016"

SCHEMA = """
CREATE TABLE contact_import (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    group_id UUID NOT NULL,
    state TEXT NOT NULL,
    country TEXT,
    pieces INTEGER DEFAULT 0 NOT NULL,
    next_piece INTEGER DEFAULT 0 NOT NULL,
    bytes BIGINT DEFAULT 0 NOT NULL,
    bytes_done BIGINT DEFAULT 0 NOT NULL,
    place JSONB,
    rows INTEGER DEFAULT 0 NOT NULL,
    added INTEGER DEFAULT 0 NOT NULL,
    changed INTEGER DEFAULT 0 NOT NULL,
    unchanged INTEGER DEFAULT 0 NOT NULL,
    invalid INTEGER DEFAULT 0 NOT NULL,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    worked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_contact_import PRIMARY KEY (id),
    CONSTRAINT ck_contact_import_state CHECK (state IN ('receiving', 'queued', 'running', 'completed', 'failed', 'canceled')),
    CONSTRAINT fk_contact_import_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT fk_contact_import_group_id FOREIGN KEY(group_id) REFERENCES contact_group (id)
);
CREATE INDEX ix_contact_import_account_id_id ON contact_import (account_id, id);
CREATE INDEX ix_contact_import_open ON contact_import (worked_at) WHERE state IN ('receiving', 'queued', 'running');
COMMENT ON TABLE contact_import IS 'a file of contacts on its way into a group; a piece of it is one transaction';
COMMENT ON COLUMN contact_import.country IS 'in whose way the file writes numbers';
COMMENT ON COLUMN contact_import.place IS 'how far the file was read, and how: shared.contacts.csv.Place';
COMMENT ON COLUMN contact_import.error IS 'why it failed';
CREATE TABLE import_piece (
    import_id UUID NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT pk_import_piece PRIMARY KEY (import_id, number),
    CONSTRAINT fk_import_piece_import_id FOREIGN KEY(import_id) REFERENCES contact_import (id)
);
COMMENT ON TABLE import_piece IS 'what is still to be read of a file: whole lines';
CREATE TABLE import_error (
    import_id UUID NOT NULL,
    line INTEGER NOT NULL,
    value TEXT NOT NULL,
    code TEXT NOT NULL,
    detail TEXT NOT NULL,
    CONSTRAINT pk_import_error PRIMARY KEY (import_id, line),
    CONSTRAINT fk_import_error_import_id FOREIGN KEY(import_id) REFERENCES contact_import (id)
);
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
