"""What processes of the previous release do to tables by their previous names, while an upgrade replaces them."""

from uuid import UUID

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from shared.accounts.administration import create_account
from shared.accounts.audit_log import list_changes
from shared.ids import new_id

LEDGER_GUARDED = """
    SELECT t.of || t.name AS trigger
      FROM (SELECT * FROM (VALUES ('ledger'), ('change')) AS o (of),
                          (VALUES ('_append_only'), ('_no_truncate')) AS n (name)) AS t
     WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t.of::regclass AND g.tgname = t.of || t.name
                                                  AND g.tgenabled IN ('O', 'A'))
"""
RECORD = text(
    """
    INSERT INTO change (account_id, who, what, subject, before, after, reason, request_id, address)
    VALUES (:account, 'operator alice', :what, '7', CAST('{"a": 1}' AS jsonb), NULL, 'ticket 7', 'req_1', '192.0.2.1')
    RETURNING change.id
    """
)
LIST = text(
    "SELECT id, at, who, what FROM change WHERE account_id = :account AND id < :before ORDER BY id DESC LIMIT 2"
)

KEEP_CHUNK, TAKE_CHUNK, DROP_OLD_CHUNKS, DROP_CHUNKS, HAS_CHUNKS = map(
    text,
    (
        "INSERT INTO import_piece (import_id, number, content) VALUES (:import, :number, E'254711000000\\n')",
        "DELETE FROM import_piece WHERE import_id = :import AND number = :number RETURNING import_piece.content",
        """
        DELETE FROM import_piece WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM import_piece WHERE EXISTS (
                SELECT FROM contact_import i WHERE i.id = import_id AND i.state = 'failed') LIMIT :step))
           AND EXISTS (SELECT FROM contact_import i WHERE i.id = import_id AND i.state = 'failed')
        """,
        "DELETE FROM import_piece p USING contact_import i WHERE i.id = p.import_id AND i.id = :import",
        "SELECT EXISTS (SELECT FROM import_piece WHERE import_id = :import)",
    ),
)


def an_import(connection: Connection) -> UUID:
    """A failed import without chunks."""
    account = create_account(connection, "acme")
    import_id = new_id()
    values = {"id": import_id, "account": account, "group": new_id()}
    connection.execute(text("INSERT INTO contact_group (id, account_id, name) VALUES (:group, :account, 'a')"), values)
    insert = "INSERT INTO contact_import (id, account_id, group_id, state) VALUES (:id, :account, :group, 'failed')"
    connection.execute(text(insert), values)
    return import_id


def test_the_audit_log(connection: Connection) -> None:
    account = create_account(connection, "acme")
    recorded = [
        connection.execute(RECORD, {"account": account, "what": what}).scalar_one()
        for what in ("key.created", "key.revoked")
    ]
    newest, older = list_changes(connection, account_id=account, limit=2)
    assert recorded == [older["id"], newest["id"]] == sorted(recorded)
    assert (newest["actor"], newest["action"], newest["reason"]) == ("operator alice", "key.revoked", "ticket 7")
    assert (older["before"], older["after"], older["address"]) == ({"a": 1}, None, "192.0.2.1")
    listed = connection.execute(LIST, {"account": account, "before": newest["id"] + 1}).all()
    assert [tuple(row) for row in listed] == [
        (row["id"], row["at"], row["actor"], row["action"]) for row in (newest, older)
    ]


def test_the_previous_audit_finds_its_triggers(connection: Connection) -> None:
    assert connection.execute(text(LEDGER_GUARDED)).all() == []


@pytest.mark.parametrize("statement", ["UPDATE change SET who = 'x'", "DELETE FROM change", "TRUNCATE change"])
def test_the_audit_log_refuses_changes(connection: Connection, statement: str) -> None:
    create_account(connection, "acme")
    with pytest.raises(DBAPIError, match=r"append-only|permission denied|not a table"):
        connection.execute(text(statement))


@pytest.mark.parametrize("statement", ["UPDATE change SET who = 'x'", "DELETE FROM change"])
def test_a_superuser_is_refused_as_well(connection: Connection, statement: str) -> None:
    create_account(connection, "acme")
    for name in ("change", "audit_log"):
        connection.execute(text(f"GRANT UPDATE, DELETE ON {name} TO CURRENT_USER"))
    with pytest.raises(DBAPIError, match="append-only"):
        connection.execute(text(statement))


def test_chunks_of_imports(connection: Connection) -> None:
    import_id = an_import(connection)
    chunks = [{"import": import_id, "number": number} for number in range(4)]
    connection.execute(KEEP_CHUNK, chunks)
    assert connection.execute(TAKE_CHUNK, chunks[0]).scalar_one() == "254711000000\n"
    assert connection.execute(DROP_OLD_CHUNKS, {"step": 2}).rowcount == 2
    assert connection.execute(HAS_CHUNKS, chunks[0]).scalar_one()
    assert connection.execute(DROP_CHUNKS, chunks[0]).rowcount == 1
    assert not connection.execute(HAS_CHUNKS, chunks[0]).scalar_one()
    assert connection.execute(text("SELECT count(*) FROM import_chunk")).scalar_one() == 0
