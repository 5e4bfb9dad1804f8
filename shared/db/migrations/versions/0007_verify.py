"""Verifications: codes that were sent to phones."""

from alembic import op

revision = "0007"
down_revision = "0006"
compatible = True

SCHEMA = """
CREATE TABLE verification (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    phone BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    country TEXT,
    code TEXT NOT NULL,
    checks SMALLINT DEFAULT 0 NOT NULL,
    max_checks SMALLINT NOT NULL,
    sends SMALLINT DEFAULT 1 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    approved_at TIMESTAMP WITH TIME ZONE,
    replaced_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_verification PRIMARY KEY (id),
    CONSTRAINT ck_verification_checks CHECK (checks BETWEEN 0 AND max_checks),
    CONSTRAINT fk_verification_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_verification_account_id_id ON verification (account_id, id);
CREATE INDEX ix_verification_account_id_phone ON verification (account_id, phone);
CREATE INDEX ix_verification_expires_at ON verification (expires_at);
CREATE UNIQUE INDEX uq_verification_open ON verification (account_id, phone, purpose)
    WHERE approved_at IS NULL AND replaced_at IS NULL;
COMMENT ON TABLE verification IS 'codes sent to phones; deleted 30 days after they expired';
COMMENT ON COLUMN verification.country IS 'ISO 3166-1, two letters; null: none';
COMMENT ON COLUMN verification.code IS 'sealed under a key of its own';
COMMENT ON COLUMN verification.checks IS 'wrong checks, and those that are being compared';
COMMENT ON COLUMN verification.sends IS 'how often the code was sent';
COMMENT ON COLUMN verification.sent_at IS 'when the code was last accepted';
COMMENT ON COLUMN verification.replaced_at IS 'when a new one for its phone and purpose began';
ALTER TABLE account ADD COLUMN verification JSONB;
COMMENT ON COLUMN account.verification IS 'its settings of verifications; null: the usual ones';
ALTER TABLE send ADD COLUMN verification_id UUID;
COMMENT ON COLUMN send.verification_id IS 'the verification whose code it sends: its text is shown without the code';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
