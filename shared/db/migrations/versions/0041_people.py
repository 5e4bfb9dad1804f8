"""People who sign in, with their memberships, invitations, sessions, links and recovery codes."""

from alembic import op

revision = "0041"
down_revision = "0040"

compatible = False  # older code does not see that a session or membership has ended

SCHEMA = """
CREATE TABLE person (
    id uuid NOT NULL,
    email text,
    name text NOT NULL,
    locale text DEFAULT 'en' NOT NULL,
    time_zone text DEFAULT 'UTC' NOT NULL,
    state text DEFAULT 'active' NOT NULL,
    operator_role text,
    password_hash text,
    totp_secret text,
    totp_pending text,
    totp_step bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_sign_in_at timestamptz,
    disabled_at timestamptz,
    CONSTRAINT pk_person PRIMARY KEY (id),
    CONSTRAINT uq_person_email UNIQUE (email),
    CONSTRAINT ck_person_state CHECK (state IN ('active', 'disabled')),
    CONSTRAINT ck_person_disabled_at CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
    CONSTRAINT ck_person_email CHECK (email = lower(email) AND (email IS NOT NULL OR state = 'disabled')),
    CONSTRAINT ck_person_operator_role CHECK (operator_role IN ('admin', 'support'))
);
CREATE INDEX ix_person_disabled_at ON person (disabled_at) WHERE disabled_at IS NOT NULL;
COMMENT ON TABLE person IS 'people who sign in';
COMMENT ON COLUMN person.email IS 'in lower case; null: erased';
COMMENT ON COLUMN person.operator_role IS 'role in the installation; null: no operator';
COMMENT ON COLUMN person.password_hash IS 'Argon2id in its encoded form; null: signs in by link only';
COMMENT ON COLUMN person.totp_secret IS 'encrypted; null: TOTP is off';
COMMENT ON COLUMN person.totp_pending IS 'encrypted; a secret that no code has confirmed yet';
COMMENT ON COLUMN person.totp_step IS 'time step of the last code used; older codes are refused';

CREATE TABLE recovery_code (
    person_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    CONSTRAINT pk_recovery_code PRIMARY KEY (person_id, code_hash),
    CONSTRAINT fk_recovery_code_person_id FOREIGN KEY (person_id) REFERENCES person (id)
);
COMMENT ON TABLE recovery_code IS 'codes that replace a TOTP code once; a used one is deleted';

CREATE TABLE membership (
    account_id bigint NOT NULL,
    person_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    CONSTRAINT pk_membership PRIMARY KEY (account_id, person_id),
    CONSTRAINT fk_membership_account_id FOREIGN KEY (account_id) REFERENCES account (id),
    CONSTRAINT fk_membership_person_id FOREIGN KEY (person_id) REFERENCES person (id),
    CONSTRAINT ck_membership_role CHECK (role IN ('owner', 'sender', 'viewer'))
);
CREATE INDEX ix_membership_person_id ON membership (person_id);
CREATE INDEX ix_membership_changed_at ON membership (changed_at);
COMMENT ON TABLE membership IS 'people in accounts, with their roles; an ended one stays';
COMMENT ON COLUMN membership.version IS 'rises with each change; tokens name it';

CREATE TABLE invitation (
    id uuid NOT NULL,
    email text NOT NULL,
    account_id bigint,
    role text,
    operator_role text,
    token_hash bytea NOT NULL,
    invited_by text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    CONSTRAINT pk_invitation PRIMARY KEY (id),
    CONSTRAINT uq_invitation_token_hash UNIQUE (token_hash),
    CONSTRAINT fk_invitation_account_id FOREIGN KEY (account_id) REFERENCES account (id),
    CONSTRAINT ck_invitation_email CHECK (email = lower(email)),
    CONSTRAINT ck_invitation_account_id CHECK ((account_id IS NULL) = (role IS NULL)),
    CONSTRAINT ck_invitation_purpose CHECK (role IS NOT NULL OR operator_role IS NOT NULL),
    CONSTRAINT ck_invitation_role CHECK (role IN ('owner', 'sender', 'viewer')),
    CONSTRAINT ck_invitation_operator_role CHECK (operator_role IN ('admin', 'support'))
);
CREATE INDEX ix_invitation_account_id_id ON invitation (account_id, id);
CREATE INDEX ix_invitation_expires_at ON invitation (expires_at);
COMMENT ON TABLE invitation IS 'invitations by link, for an account, for an operator role, or both';
COMMENT ON COLUMN invitation.invited_by IS 'an API key, a person or an operator';
COMMENT ON COLUMN invitation.ended_at IS 'when it was accepted, revoked or replaced';

CREATE TABLE sign_in_link (
    token_hash bytea NOT NULL,
    person_id uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_sign_in_link PRIMARY KEY (token_hash),
    CONSTRAINT fk_sign_in_link_person_id FOREIGN KEY (person_id) REFERENCES person (id)
);
CREATE INDEX ix_sign_in_link_person_id ON sign_in_link (person_id);
CREATE INDEX ix_sign_in_link_expires_at ON sign_in_link (expires_at);
COMMENT ON TABLE sign_in_link IS 'links that sign a person in once; a used one is deleted';

CREATE TABLE person_session (
    id uuid NOT NULL,
    person_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    by_link boolean NOT NULL,
    address text,
    network text,
    user_agent text,
    CONSTRAINT pk_person_session PRIMARY KEY (id),
    CONSTRAINT uq_person_session_token_hash UNIQUE (token_hash),
    CONSTRAINT fk_person_session_person_id FOREIGN KEY (person_id) REFERENCES person (id)
);
CREATE INDEX ix_person_session_person_id_id ON person_session (person_id, id);
CREATE INDEX ix_person_session_expires_at ON person_session (expires_at);
CREATE INDEX ix_person_session_ended_at ON person_session (ended_at);
COMMENT ON TABLE person_session IS 'sessions of people who signed in';
COMMENT ON COLUMN person_session.by_link IS 'begun by a link, without the password';
COMMENT ON COLUMN person_session.network IS 'the block of addresses of one client that the address is in';

COMMENT ON COLUMN change.who IS 'an API key, a person, an operator, or a worker';
COMMENT ON COLUMN idempotency.api_key_id IS
    'the key or person that made the request; null: it is older than this column';
COMMENT ON COLUMN revoked_token.api_key_id IS 'key or person of the token; null: revoked before this column existed';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
