"""Accounts after their creation: what can be changed, and a mistaken top-up that is corrected."""

import pytest
from sqlalchemy import Connection, text

from shared.accounts.administration import Refused, create_account
from shared.accounts.change_account import change_account
from shared.accounts.top_ups import reverse_top_up, top_up
from shared.ids import new_id
from shared.ledger.ledger import Entry, post


@pytest.fixture
def account(connection: Connection) -> int:
    return create_account(connection, "acme")


def last_change(connection: Connection) -> tuple[str, object, object, str | None]:
    row = connection.execute(text("SELECT action, before, after, reason FROM audit_log ORDER BY id DESC LIMIT 1")).one()
    return tuple(row)


def test_a_reversal_is_made_once(connection: Connection, account: int) -> None:
    top_up(connection, account, 100, "x", "key")
    reverse_top_up(connection, account, "key", 60, "x")
    assert reverse_top_up(connection, account, "key", 60, "x")[1:] == (40, True)
    with pytest.raises(Refused, match="60 credits of this top-up were reversed before"):
        reverse_top_up(connection, account, "key", 40, "x")


def test_what_is_reserved_is_not_taken_back(connection: Connection, account: int) -> None:
    top_up(connection, account, 100, "x", "key")
    post(connection, [Entry(account, "reserve", 30, "send", new_id())])
    with pytest.raises(Refused, match="Only 70 credits are available"):
        reverse_top_up(connection, account, "key", 71, "x")
    assert reverse_top_up(connection, account, "key", 70, "x").balance == 0


@pytest.mark.parametrize("credits", [0, -1, 101])
def test_no_more_than_was_topped_up(connection: Connection, account: int, credits: int) -> None:
    top_up(connection, account, 100, "x", "key")
    top_up(connection, account, 100, "x", "another")
    with pytest.raises(Refused, match="1 to 100"):
        reverse_top_up(connection, account, "key", credits, "x")


def test_a_top_up_of_another_account_cannot_be_reversed(connection: Connection, account: int) -> None:
    other = create_account(connection, "other")
    top_up(connection, other, 100, "x", "key")
    subject = connection.execute(text("SELECT subject FROM ledger WHERE account_id = :id"), {"id": other}).scalar_one()
    for name in ("key", str(subject)):
        with pytest.raises(Refused, match="no top-up"):
            reverse_top_up(connection, account, name, 1, "x")


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
