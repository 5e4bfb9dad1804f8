"""The migration that counts contacts by their first digits misses none that come or go meanwhile."""

import threading

import pytest
from alembic import command
from sqlalchemy import Connection, Engine, text

from shared.db.migrate import migration_config
from tests.harness.database import wait_until_somebody_waits

pytestmark = pytest.mark.slow
FIRST_CONTACTS = """
WITH owner AS (INSERT INTO account (name) VALUES ('acme') RETURNING id),
     parent AS (INSERT INTO contact_group (id, account_id, name)
                SELECT gen_random_uuid(), id, name FROM owner, unnest('{VIP,All}'::text[]) AS name RETURNING id)
INSERT INTO contact (group_id, position, phone)
SELECT id, n, 254700000000 + n % 3 * 1000000000 + n FROM parent, generate_series(1, 30) AS n
"""
COUNTED = "SELECT group_id, prefix, contacts FROM contact_group_prefix WHERE contacts <> 0 ORDER BY 1, 2"
THERE = "SELECT group_id, left(phone::text, 4)::smallint, count(*) FROM contact GROUP BY 1, 2 ORDER BY 1, 2"


def upgrade(engine: Engine, revision: str) -> None:
    config = migration_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def come_and_go(connection: Connection, prefix: int) -> None:
    """Add a contact with these first digits to every group, and remove three others."""
    row = {"prefix": prefix, "phone": prefix * 10**8}
    come = "INSERT INTO contact (group_id, position, phone) SELECT id, :prefix, :phone FROM contact_group"
    connection.execute(text(come), row)
    connection.execute(text("DELETE FROM contact WHERE position < 1000 AND position % 10 = :prefix % 10"), row)


def test_it_works(empty: Engine) -> None:
    upgrade(empty, "0001")
    with empty.begin() as connection:
        connection.execute(text(FIRST_CONTACTS))
    upgrade(empty, "0002")
    with empty.begin() as connection:
        come_and_go(connection, 2561)
    with empty.connect() as busy:
        come_and_go(busy, 2547)
        counting = threading.Thread(target=upgrade, args=(empty, "0003"))
        counting.start()
        wait_until_somebody_waits(empty)
        come_and_go(busy, 2583)
        busy.commit()
        counting.join(60)
        there = busy.execute(text(THERE)).all()
        assert len(there) == 10
        assert busy.execute(text(COUNTED)).all() == there
