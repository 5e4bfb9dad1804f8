"""Accounts, top-ups, keys and sender IDs: what is refused, and what happens once although it is asked for at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, Row, text
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
from shared.accounts.top_ups import Posted, reverse_top_up, top_up
from shared.api_key import hash_secret, same
from shared.ids import new_id
from shared.ledger.ledger import Entry, post
from shared.scopes import DEFAULT_SCOPES
from shared.senders.sender_ids import decide_sender, form_of, request_sender

ALICE = Actor("operator alice")
PEPPER = "a-secret-of-the-installation-for-tests"


@pytest.fixture
def account(connection: Connection) -> int:
    return create_account(connection, "acme")


def test_a_top_up_with_the_same_key_is_made_once(connection: Connection, account: int) -> None:
    top_up(connection, account, 500, "invoice 7", "invoice-7")
    assert top_up(connection, account, 500, "invoice 7", "invoice-7")[1:] == (500, True)
    assert top_up(connection, account, 500, "invoice 8", "invoice-8")[1:] == (1000, False)
    with pytest.raises(Refused, match="used for a top-up of 500 credits"):
        top_up(connection, account, 501, "invoice 7", "invoice-7")


def test_top_ups_with_one_key_at_the_same_time_are_one(engine: Engine) -> None:
    with engine.begin() as connection:
        account = create_account(connection, "in a hurry")

    def attempt(_: int) -> Posted:
        with engine.begin() as connection:
            return top_up(connection, account, 10, "x", "key")

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(attempt, range(12)))
    assert sum(not each.repeated for each in made) == 1
    assert {each.balance for each in made} == {10}


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


def requested(connection: Connection, account: int) -> Row[Any]:
    """State, reason and use case of the only sender ID that the account has requested."""
    rows = text("SELECT state, reason, use_case FROM sender_id WHERE account_id = :id")
    return connection.execute(rows, {"id": account}).one()


@pytest.mark.parametrize("name", ["acme", "", " acme", "123"])
def test_a_taken_or_invalid_account_name_is_refused(connection: Connection, account: int, name: str) -> None:
    with pytest.raises(Refused):
        create_account(connection, name)


def test_a_refusal_needs_a_reason(connection: Connection, account: int) -> None:
    request_sender(connection, account, "ACME")
    with pytest.raises(Refused, match="Say why"):
        decide_sender(connection, account, "ACME", "rejected")
    decide_sender(connection, account, "ACME", "rejected", "not yours")
    refused = requested(connection, account)
    assert (refused.state, refused.reason) == ("rejected", "not yours")
    with pytest.raises(Refused, match="has not requested"):
        decide_sender(connection, account, "OTHER", "approved")


def test_a_reversal_is_made_once(connection: Connection, account: int) -> None:
    top_up(connection, account, 100, "x", "key")
    reverse_top_up(connection, account, "key", 60, "x")
    assert reverse_top_up(connection, account, "key", 60, "x")[1:] == (40, True)
    with pytest.raises(Refused, match="60 credits of this top-up were reversed before"):
        reverse_top_up(connection, account, "key", 40, "x")


def test_before_and_after_say_what_changed(connection: Connection, account: int) -> None:
    top_up(connection, account, 500, "x", "x")
    suspend_account(connection, account)
    rows = connection.execute(text("SELECT before, after FROM audit_log ORDER BY id DESC LIMIT 2")).all()
    assert [tuple(row) for row in rows] == [
        ({"state": "active"}, {"state": "suspended"}),
        ({"available": 0}, {"available": 500}),
    ]


def test_an_unknown_account_is_refused(connection: Connection) -> None:
    with pytest.raises(Refused):
        top_up(connection, 10**6, 5, "x", "key")
    with pytest.raises(Refused):
        create_key(connection, 10**6, PEPPER)
    with pytest.raises(Refused):
        suspend_account(connection, 10**6)


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


def test_a_key_is_stored_as_a_hash(connection: Connection, account: int) -> None:
    key = create_key(connection, account, PEPPER)
    row = connection.execute(text("SELECT * FROM api_key WHERE id = :id"), {"id": key.api_key}).one()
    assert same(bytes(row.secret_hash), hash_secret(key.api_secret, PEPPER))
    assert (sorted(row.scopes), row.test, row.expires_at) == (sorted(DEFAULT_SCOPES), False, None)
    assert key.api_secret not in str(row)


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
