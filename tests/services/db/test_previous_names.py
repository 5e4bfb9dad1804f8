"""What processes of the previous release do to tables by their previous names, while an upgrade replaces them."""

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from shared.accounts.administration import create_account
from shared.accounts.audit_log import list_changes

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


def test_it_works(connection: Connection) -> None:
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
