"""The log of what changes rights or money."""

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from shared.accounts.administration import (
    activate_account,
    create_account,
    create_key,
    freeze_accounts,
    revoke_key,
    suspend_account,
)
from shared.accounts.audit_log import Actor
from shared.accounts.top_ups import top_up
from shared.senders.sender_ids import decide_sender, request_sender

ALICE = Actor("operator alice")


@pytest.fixture
def account(connection: Connection) -> int:
    return create_account(connection, "acme")


def logged(connection: Connection) -> list[tuple[str, str, str | None]]:
    """What, by whom and why, oldest first; without the account's own making."""
    rows = connection.execute(
        text("SELECT action, actor, reason FROM audit_log WHERE action <> 'account.created' ORDER BY id")
    )
    return [tuple(row) for row in rows]


def test_every_change_of_an_account_is_logged_once(connection: Connection, account: int) -> None:
    for _ in range(2):
        top_up(connection, account, 500, "invoice 7", "invoice-7", by=ALICE)
    suspend_account(connection, account, "unpaid", by=ALICE)
    activate_account(connection, account, by=ALICE)
    key = create_key(connection, account, "a-secret-of-the-installation-for-tests", by=ALICE)
    for _ in range(2):
        revoke_key(connection, key.api_key, by=ALICE)
    for _ in range(2):
        request_sender(connection, account, "ACME", by=ALICE)
    decide_sender(connection, account, "ACME", "suspended", "fraud", by=ALICE)
    freeze_accounts(connection, [account])
    assert logged(connection) == [
        ("account.topped_up", "operator alice", "invoice 7"),
        ("account.suspended", "operator alice", "unpaid"),
        ("account.activated", "operator alice", None),
        ("key.created", "operator alice", None),
        ("key.revoked", "operator alice", None),
        ("sender.requested", "operator alice", None),
        ("sender.suspended", "operator alice", "fraud"),
        ("account.frozen", "worker", None),
    ]


def test_before_and_after_say_what_changed(connection: Connection, account: int) -> None:
    top_up(connection, account, 500, "x", "x")
    suspend_account(connection, account)
    rows = connection.execute(text("SELECT before, after FROM audit_log ORDER BY id DESC LIMIT 2")).all()
    assert [tuple(row) for row in rows] == [
        ({"state": "active"}, {"state": "suspended"}),
        ({"available": 0}, {"available": 500}),
    ]


def test_no_secret_is_logged(connection: Connection, account: int) -> None:
    key = create_key(connection, account, "a-secret-of-the-installation-for-tests")
    row = connection.execute(text("SELECT audit_log::text FROM audit_log WHERE action = 'key.created'")).scalar_one()
    assert key.api_key in row
    assert key.api_secret not in row


@pytest.mark.parametrize("change", ["UPDATE audit_log SET actor = 'x'", "DELETE FROM audit_log", "TRUNCATE audit_log"])
def test_the_log_refuses_changes(connection: Connection, account: int, change: str) -> None:
    """Also those of its owner, whose privileges are the service's own."""
    with pytest.raises(DBAPIError, match=r"append-only|permission denied"):
        connection.execute(text(change))
