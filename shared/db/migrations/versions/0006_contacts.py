"""What contacts have besides a phone, and the country whose numbers an account's lists are written in.

Keys that may read groups may write them: until now there was nothing to write by the API.
"""

from alembic import op

revision = "0006"
down_revision = "0005"

SCHEMA = """
ALTER TABLE account ADD COLUMN country TEXT;
ALTER TABLE account ADD CONSTRAINT ck_account_country CHECK (country ~ '^[A-Z]{2}$');
COMMENT ON COLUMN account.country IS 'ISO 3166-1, two letters: whose national numbers its lists of contacts may have';
ALTER TABLE contact ADD COLUMN fields JSONB, ADD COLUMN tags TEXT[];
COMMENT ON COLUMN contact.fields IS 'texts by name, for placeholders; null: none';
COMMENT ON COLUMN contact.tags IS 'null: none';
CREATE INDEX ix_contact_tags ON contact USING gin (tags) WHERE tags IS NOT NULL;
CREATE INDEX ix_contact_group_account_id_id ON contact_group (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX ix_contact_group_deleted ON contact_group (id) WHERE deleted_at IS NOT NULL AND contact_count > 0;
UPDATE api_key SET scopes = scopes || CAST('groups:write' AS text)
 WHERE 'groups:read' = ANY (scopes) AND NOT 'groups:write' = ANY (scopes);
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
