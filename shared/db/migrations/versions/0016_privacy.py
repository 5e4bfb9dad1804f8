"""What is forgotten after some days, and who is erased at once.

Keys that may do everything may do this. An opt-out of an erased phone stays as a negative number: 62 bits of a keyed hash. Its key is made here, once.
"""

from alembic import op

revision = "0016"
down_revision = "0015"

SCHEMA = r"""
ALTER TABLE installation ADD COLUMN erasure_key UUID DEFAULT gen_random_uuid() NOT NULL;
COMMENT ON COLUMN installation.erasure_key IS 'of the hashes that stand for erased phones';
CREATE FUNCTION erased_phone(account BIGINT, phone BIGINT, key UUID) RETURNS BIGINT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN -1 - ((('x' || encode(substr(sha256(uuid_send(key) || int8send(account) || int8send(phone)), 1, 8), 'hex'))
                  ::bit(64)::bigint) >> 1 & 4611686018427387903);
ALTER TABLE account ADD COLUMN retention_days INTEGER, ADD COLUMN forgotten_to UUID,
    ADD CONSTRAINT ck_account_retention_days CHECK (retention_days BETWEEN 1 AND 3650);
COMMENT ON COLUMN account.retention_days IS 'after which texts and phones are forgotten; null: as the installation says';
COMMENT ON COLUMN account.forgotten_to IS 'the sends up to this one are forgotten';
ALTER TABLE send ADD COLUMN forgotten_at TIMESTAMP WITH TIME ZONE;
COMMENT ON COLUMN send.forgotten_at IS 'when its text and phones were deleted; its counts stay';
ALTER TABLE usage ADD COLUMN kept BOOLEAN DEFAULT false NOT NULL, DROP CONSTRAINT pk_usage,
    ADD CONSTRAINT pk_usage PRIMARY KEY (account_id, began_at, sender_id, lane, country, status, kept);
COMMENT ON COLUMN usage.kept IS 'of forgotten sends: these rows are only added to';
CREATE TABLE erasure (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    phone BIGINT,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    waiting UUID[],
    counts JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    completed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_erasure PRIMARY KEY (id),
    CONSTRAINT ck_erasure_phone CHECK ((phone IS NULL) = (completed_at IS NOT NULL)),
    CONSTRAINT fk_erasure_account_id FOREIGN KEY (account_id) REFERENCES account (id)
);
CREATE INDEX ix_erasure_account_id_id ON erasure (account_id, id);
CREATE INDEX ix_erasure_due_at ON erasure (due_at) WHERE completed_at IS NULL;
COMMENT ON TABLE erasure IS 'persons whose data was asked to be erased; the phone goes with the rest';
COMMENT ON COLUMN erasure.waiting IS 'batches that are still worked on; null: nothing was looked for yet';
UPDATE api_key SET scopes = scopes || CAST('privacy:write' AS text)
 WHERE scopes @> ARRAY['sms:send', 'sms:read', 'balance:read', 'groups:read'];
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
