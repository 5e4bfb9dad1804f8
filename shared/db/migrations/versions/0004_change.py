"""The log of everything that changes rights or money, append-only like the ledger."""

from alembic import op

revision = "0004"
down_revision = "0003"

SCHEMA = """
CREATE TABLE change (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    account_id BIGINT,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    subject TEXT,
    before JSONB,
    after JSONB,
    reason TEXT,
    request_id TEXT,
    address TEXT,
    CONSTRAINT pk_change PRIMARY KEY (id),
    CONSTRAINT fk_change_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_change_account_id_id ON change (account_id, id);
COMMENT ON TABLE change IS 'who changed rights or money; append-only: a trigger refuses UPDATE, DELETE and TRUNCATE';
COMMENT ON COLUMN change.who IS 'an API key, an operator, or a worker';
COMMENT ON COLUMN change.what IS 'the kind of thing, and what happened to it: key.created';
COMMENT ON COLUMN change.subject IS 'which one';
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the table % is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER change_append_only BEFORE UPDATE OR DELETE ON change FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER change_no_truncate BEFORE TRUNCATE ON change FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON change FROM CURRENT_USER;
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
