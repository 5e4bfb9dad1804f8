"""Prices by destination: lists with versions, what a batch costs, and the contacts of a group by their first digits."""

from alembic import op

revision = "0002"
down_revision = "0001"
compatible = True

SCHEMA = r"""
CREATE TABLE price_list (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    carrier TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_price_list PRIMARY KEY (id),
    CONSTRAINT uq_price_list_name UNIQUE (name),
    CONSTRAINT uq_price_list_carrier UNIQUE (carrier)
);
COMMENT ON COLUMN price_list.carrier IS 'the carrier whose costs it has; null: what accounts pay';
CREATE TABLE contact_group_prefix (
    group_id UUID NOT NULL,
    prefix SMALLINT NOT NULL,
    contacts BIGINT NOT NULL,
    CONSTRAINT pk_contact_group_prefix PRIMARY KEY (group_id, prefix),
    CONSTRAINT fk_contact_group_prefix_group_id FOREIGN KEY(group_id) REFERENCES contact_group (id)
);
COMMENT ON TABLE contact_group_prefix IS 'contacts of a group by what tells their country; triggers of `contact` keep it';
COMMENT ON COLUMN contact_group_prefix.prefix IS 'the first four digits of phones';
CREATE TABLE price_version (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    list_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    prices INTEGER NOT NULL,
    valid_from TIMESTAMP WITH TIME ZONE,
    published_at TIMESTAMP WITH TIME ZONE,
    withdrawn_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_price_version PRIMARY KEY (id),
    CONSTRAINT ck_price_version_published CHECK ((valid_from IS NULL) = (published_at IS NULL)),
    CONSTRAINT ck_price_version_withdrawn CHECK (withdrawn_at < valid_from),
    CONSTRAINT fk_price_version_list_id FOREIGN KEY(list_id) REFERENCES price_list (id)
);
CREATE INDEX ix_price_version_list_id ON price_version (list_id, valid_from);
COMMENT ON TABLE price_version IS 'what a list says from a moment on, until its next version is valid; its prices never change';
COMMENT ON COLUMN price_version.prices IS 'number of its prices';
COMMENT ON COLUMN price_version.valid_from IS 'null: a draft';
COMMENT ON COLUMN price_version.withdrawn_at IS 'it never became valid';
CREATE TABLE price_assignment (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT,
    list_id BIGINT,
    valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_price_assignment PRIMARY KEY (id),
    CONSTRAINT fk_price_assignment_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT fk_price_assignment_list_id FOREIGN KEY(list_id) REFERENCES price_list (id)
);
CREATE INDEX ix_price_assignment_account_id ON price_assignment (account_id, valid_from);
CREATE INDEX ix_price_assignment_default ON price_assignment (valid_from) WHERE account_id IS NULL;
COMMENT ON TABLE price_assignment IS 'which list an account has from a moment on; append-only';
COMMENT ON COLUMN price_assignment.account_id IS 'null: every account without one of its own';
COMMENT ON COLUMN price_assignment.list_id IS 'null: no list from then on';
CREATE TABLE price (
    version_id BIGINT NOT NULL,
    category TEXT NOT NULL,
    prefix TEXT NOT NULL,
    price BIGINT NOT NULL,
    CONSTRAINT pk_price PRIMARY KEY (version_id, category, prefix),
    CONSTRAINT ck_price_category CHECK (category IN ('', 'transactional', 'marketing', 'authentication')),
    CONSTRAINT ck_price_prefix CHECK (prefix ~ '^[0-9]{0,15}$'),
    CONSTRAINT ck_price_price CHECK (price >= 0)
);
COMMENT ON COLUMN price.category IS 'empty: any';
COMMENT ON COLUMN price.prefix IS 'first digits of phones; empty: any';
COMMENT ON COLUMN price.price IS 'credits per segment';
ALTER TABLE send ADD COLUMN price_version_id BIGINT;
COMMENT ON COLUMN send.price_version_id IS 'the prices that it was accepted with; null: 1 per segment';
COMMENT ON COLUMN send.price IS 'credits per message; the most if they differ';
COMMENT ON COLUMN send.cost IS 'credits reserved, if texts or prices differ; null: price times accepted';
COMMENT ON COLUMN send.unexpanded_credits IS 'credits reserved for the rest of the group, if texts or prices differ; null: price times unexpanded';
ALTER TABLE quote ADD COLUMN price_version_id BIGINT;
COMMENT ON COLUMN quote.price_version_id IS 'the prices that it was made with; null: 1 per segment';
ALTER TABLE batch ADD COLUMN price BIGINT;
COMMENT ON COLUMN batch.price IS 'credits per message, if texts or prices differ; null: that of the send';
CREATE FUNCTION count_prefixes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contact_group_prefix AS p (group_id, prefix, contacts)
    SELECT group_id, left(phone::text, 4)::smallint, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
      FROM changed GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (group_id, prefix) DO UPDATE SET contacts = p.contacts + EXCLUDED.contacts;
    RETURN NULL;
END $$;
LOCK TABLE contact IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO contact_group_prefix (group_id, prefix, contacts)
SELECT group_id, left(phone::text, 4)::smallint, count(*) FROM contact GROUP BY 1, 2;
CREATE TRIGGER contact_added AFTER INSERT ON contact REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_prefixes();
CREATE TRIGGER contact_removed AFTER DELETE ON contact REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_prefixes();
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
