"""Accounts, top-ups, keys and sender IDs."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, Row, text
from sqlalchemy.exc import DBAPIError

from shared.accounts.administration import (
    Refused,
    create_account,
    create_key,
    revoke_key,
    suspend_account,
)
from shared.accounts.top_ups import Posted, top_up
from shared.api_key import hash_secret, same
from shared.scopes import DEFAULT_SCOPES
from shared.senders.sender_ids import decide_sender, form_of, request_sender

PEPPER = "a-secret-of-the-installation-for-tests"


@pytest.fixture
def account(connection: Connection) -> int:
    return create_account(connection, "acme")


def requested(connection: Connection, account: int) -> Row[Any]:
    """State, reason and use case of the only sender ID that the account has requested."""
    rows = text("SELECT state, reason, use_case FROM sender_id WHERE account_id = :id")
    return connection.execute(rows, {"id": account}).one()


@pytest.mark.parametrize("name", ["acme", "", " acme", "123"])
def test_a_taken_or_invalid_account_name_is_refused(connection: Connection, account: int, name: str) -> None:
    with pytest.raises(Refused):
        create_account(connection, name)


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


@pytest.mark.parametrize("credits", [0, -5, 10**13])
def test_the_credits_of_a_top_up_have_bounds(connection: Connection, account: int, credits: int) -> None:
    with pytest.raises(Refused, match="A top-up is 1 to"):
        top_up(connection, account, credits, "x", "key")


def test_an_unknown_account_is_refused(connection: Connection) -> None:
    with pytest.raises(Refused):
        top_up(connection, 10**6, 5, "x", "key")
    with pytest.raises(Refused):
        create_key(connection, 10**6, PEPPER)
    with pytest.raises(Refused):
        suspend_account(connection, 10**6)


@pytest.mark.parametrize("change", ["UPDATE ledger SET amount = 1", "DELETE FROM ledger", "TRUNCATE ledger"])
def test_the_ledger_is_append_only(connection: Connection, account: int, change: str) -> None:
    top_up(connection, account, 500, "x", "key")
    connection.execute(text("GRANT UPDATE, DELETE, TRUNCATE ON ledger TO CURRENT_USER"))
    with pytest.raises(DBAPIError, match="append-only"):
        connection.execute(text(change))


def test_a_key_is_stored_as_a_hash(connection: Connection, account: int) -> None:
    key = create_key(connection, account, PEPPER)
    row = connection.execute(text("SELECT * FROM api_key WHERE id = :id"), {"id": key.api_key}).one()
    assert same(bytes(row.secret_hash), hash_secret(key.api_secret, PEPPER))
    assert (sorted(row.scopes), row.test, row.expires_at) == (sorted(DEFAULT_SCOPES), False, None)
    assert key.api_secret not in str(row)


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


def test_a_refusal_needs_a_reason(connection: Connection, account: int) -> None:
    request_sender(connection, account, "ACME")
    with pytest.raises(Refused, match="Say why"):
        decide_sender(connection, account, "ACME", "rejected")
    decide_sender(connection, account, "ACME", "rejected", "not yours")
    refused = requested(connection, account)
    assert (refused.state, refused.reason) == ("rejected", "not yours")
    with pytest.raises(Refused, match="has not requested"):
        decide_sender(connection, account, "OTHER", "approved")


def test_a_sender_id_belongs_to_one_account_whatever_its_case(connection: Connection, account: int) -> None:
    other = create_account(connection, "other")
    for owner, name in ((account, "ACME"), (other, "Acme")):
        request_sender(connection, owner, name)
    decide_sender(connection, account, "ACME", "approved")
    with pytest.raises(Refused, match="approved for the account 'acme'"):
        decide_sender(connection, other, "Acme", "approved")
    decide_sender(connection, account, "ACME", "suspended", "left us")
    decide_sender(connection, other, "Acme", "approved")


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
