"""Accounts, top-ups, keys and sender IDs: what is refused, and what happens once although it is asked for at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from shared.accounts.administration import (
    Refused,
    activate_account,
    create_account,
    create_key,
    freeze_accounts,
    revoke_key,
    suspend_account,
)
from shared.accounts.audit_log import Actor
from shared.accounts.change_account import change_account
from shared.accounts.top_ups import reverse_top_up, top_up
from shared.ids import new_id
from shared.ledger.ledger import Entry, post
from shared.senders.sender_ids import decide_sender, form_of, request_sender

ALICE = Actor("operator alice")
PEPPER = "a-secret-of-the-installation-for-tests"


@pytest.fixture
def account(connection: Connection) -> int:
    return create_account(connection, "acme")


def test_revoking_twice_keeps_the_first_moment(connection: Connection, account: int) -> None:
    key = create_key(connection, account, PEPPER)
    moments = set()
    for _ in range(2):
        revoke_key(connection, key.api_key)
        moments.add(connection.execute(text("SELECT revoked_at FROM api_key")).scalar_one())
    assert len(moments) == 1 and None not in moments
    with pytest.raises(Refused):
        revoke_key(connection, "smsk_live_unknown")


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("alphanumeric", ["ACME", "a", "Acme & Co+", "A.B-C_D", "4you"]),
        ("short_code", ["123", "0712345"]),
        ("number", ["25471100", "254711000000", "123456789012345"]),
    ],
)
def test_sender_ids(form: str, names: list[str]) -> None:
    assert {form_of(name) for name in names} == {form}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "12",
        "1234567890123456",
        "TwelveLetter",
        "ACMÉ",
        "\u0410CME",
        " ACME",
        "ACME ",
        "a\n",
        "+254",
        "A/B",
        "٣٣٣",
        "07123456",
    ],
)
def test_no_sender_ids(connection: Connection, account: int, name: str) -> None:
    assert form_of(name) is None
    with pytest.raises(Refused, match="is not a sender ID"):
        request_sender(connection, account, name)


def test_two_approvals_of_one_name_at_the_same_time(engine: Engine) -> None:
    with engine.begin() as connection:
        owners = [create_account(connection, f"twin {number}") for number in range(6)]
        for owner in owners:
            request_sender(connection, owner, "TWIN")

    def approve(owner: int) -> bool:
        try:
            with engine.begin() as connection:
                decide_sender(connection, owner, "TWIN", "approved")
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(approve, owners)) == 1


def test_what_is_reserved_is_not_taken_back(connection: Connection, account: int) -> None:
    top_up(connection, account, 100, "x", "key")
    post(connection, [Entry(account, "reserve", 30, "send", new_id())])
    with pytest.raises(Refused, match="Only 70 credits are available"):
        reverse_top_up(connection, account, "key", 71, "x")
    assert reverse_top_up(connection, account, "key", 70, "x").balance == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"name": "12"},
        {"name": "acme (sandbox)"},
        {"weight": 0},
        {"low_balance_threshold": -1},
        {"country": "XX"},
        {"retention_days": 0},
        {"credit_limit": -1},
        {"credit_limit": 10**12 + 1},
        {"spend_threshold": 0},
        {"spend_threshold": 10**12 + 1},
    ],
)
def test_an_invalid_change_is_refused(connection: Connection, account: int, changes: dict[str, object]) -> None:
    create_account(connection, "other")
    with pytest.raises(Refused):
        change_account(connection, account, changes)


@pytest.mark.parametrize("change", ["UPDATE audit_log SET actor = 'x'", "DELETE FROM audit_log", "TRUNCATE audit_log"])
def test_the_log_refuses_changes(connection: Connection, account: int, change: str) -> None:
    """Also those of its owner, whose privileges are the service's own."""
    with pytest.raises(DBAPIError, match=r"append-only|permission denied"):
        connection.execute(text(change))


@pytest.mark.parametrize("name", ["acme", "", " acme", "123"])
def test_a_taken_or_invalid_account_name_is_refused(connection: Connection, account: int, name: str) -> None:
    with pytest.raises(Refused):
        create_account(connection, name)


def test_a_sender_id_that_was_not_requested_is_not_approved(connection: Connection, account: int) -> None:
    with pytest.raises(Refused, match="has not requested"):
        decide_sender(connection, account, "ACME", "approved")


def test_a_reversal_is_made_once(connection: Connection, account: int) -> None:
    top_up(connection, account, 100, "x", "key")
    reverse_top_up(connection, account, "key", 60, "x")
    assert reverse_top_up(connection, account, "key", 60, "x")[1:] == (40, True)
    with pytest.raises(Refused, match="60 credits of this top-up were reversed before"):
        reverse_top_up(connection, account, "key", 40, "x")


def last_change(connection: Connection) -> tuple[str, object, object, str | None]:
    row = connection.execute(text("SELECT action, before, after, reason FROM audit_log ORDER BY id DESC LIMIT 1")).one()
    return tuple(row)


def test_settings_are_changed_and_logged(connection: Connection, account: int) -> None:
    after = change_account(connection, account, {"weight": 3, "country": "KE", "retention_days": 30}, "contract")
    assert after == {
        "name": "acme",
        "country": "KE",
        "low_balance_threshold": 100,
        "weight": 3,
        "retention_days": 30,
        "credit_limit": 0,
        "spend_threshold": None,
        "verification": None,
    }
    assert last_change(connection) == (
        "account.changed",
        {"weight": 1, "country": None, "retention_days": None},
        {"weight": 3, "country": "KE", "retention_days": 30},
        "contract",
    )
    changes = connection.execute(text("SELECT count(*) FROM audit_log")).scalar_one()
    change_account(connection, account, {"weight": 3})
    assert connection.execute(text("SELECT count(*) FROM audit_log")).scalar_one() == changes, "nothing was changed"


def logged(connection: Connection, account: int) -> list[tuple[str, str, str | None]]:
    """What, by whom and why, oldest first; without the account's own making."""
    rows = text(
        "SELECT action, actor, reason FROM audit_log WHERE account_id = :id AND action <> 'account.created' ORDER BY id"
    )
    return [tuple(row) for row in connection.execute(rows, {"id": account})]


def test_every_change_of_an_account_is_logged_once(connection: Connection, account: int) -> None:
    for _ in range(2):
        top_up(connection, account, 500, "invoice 7", "invoice-7", by=ALICE)
    suspend_account(connection, account, "unpaid", by=ALICE)
    activate_account(connection, account, by=ALICE)
    key = create_key(connection, account, PEPPER, by=ALICE)
    for _ in range(2):
        revoke_key(connection, key.api_key, by=ALICE)
    for _ in range(2):
        request_sender(connection, account, "ACME", by=ALICE)
    decide_sender(connection, account, "ACME", "suspended", "fraud", by=ALICE)
    freeze_accounts(connection, [account])
    assert logged(connection, account) == [
        ("account.topped_up", "operator alice", "invoice 7"),
        ("account.suspended", "operator alice", "unpaid"),
        ("account.activated", "operator alice", None),
        ("key.created", "operator alice", None),
        ("key.revoked", "operator alice", None),
        ("sender.requested", "operator alice", None),
        ("sender.suspended", "operator alice", "fraud"),
        ("account.frozen", "worker", None),
    ]
