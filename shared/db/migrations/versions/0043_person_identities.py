"""Who people are at an OpenID Connect provider."""

from alembic import op

revision = "0043"
down_revision = "0042"

compatible = True

SCHEMA = """
CREATE TABLE person_identity (
    issuer text NOT NULL,
    subject text NOT NULL,
    person_id uuid NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_person_identity PRIMARY KEY (issuer, subject),
    CONSTRAINT uq_person_identity_person_id_issuer UNIQUE (person_id, issuer),
    CONSTRAINT fk_person_identity_person_id FOREIGN KEY (person_id) REFERENCES person (id)
);
COMMENT ON TABLE person_identity IS 'who people are at an OpenID Connect provider';
COMMENT ON COLUMN person.password_hash IS 'Argon2id in its encoded form; null: none';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
