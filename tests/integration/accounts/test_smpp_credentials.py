"""Credentials of accounts, and what cannot be one."""

from typing import Any

import pytest
from sqlalchemy import Connection, Engine

from shared.accounts.administration import close_account
from shared.accounts.refused import Refused
from shared.accounts.smpp_credentials import (
    create_credential,
    find_credential,
    find_own,
    list_credentials,
    revoke_credential,
)
from tests.harness.service import SECRET_KEY, Service

HERE = ["127.0.0.0/8"]


def create(engine: Engine, account: int, system_id: str, **more: Any) -> Any:
    with engine.begin() as connection:
        return create_credential(connection, account, system_id, SECRET_KEY, **{"networks": HERE, **more})


def revoke(connection: Connection, system_id: str) -> None:
    revoke_credential(connection, find_own(connection, system_id))


def listed(engine: Engine, account: int | None) -> list[str]:
    with engine.connect() as connection:
        return [each["system_id"] for each in list_credentials(connection, account)]


def test_it_works(service: Service) -> None:
    made = create(service.engine, service.account_id, "works")
    assert len(made.password) == 8
    with service.engine.connect() as connection:
        [shown] = list_credentials(connection, service.account_id)
        assert (shown["max_binds"], shown["window_size"], shown["binds"], shown["rate"]) == (2, 10, [], None)
        found = find_credential(connection, "works")
    assert found is not None and made.password.encode() not in bytes(found.password_hash)


def test_an_account_has_its_own_and_those_of_its_sandbox(service: Service) -> None:
    other = service.new_account("other")
    create(service.engine, service.account_id, "own-live")
    create(service.engine, service.account_id, "own-test", test=True)
    create(service.engine, other, "others")
    assert listed(service.engine, service.account_id) == ["own-live", "own-test"]
    assert listed(service.engine, other) == ["others"]
    found = service.transact(find_credential, "own-test")
    assert found is not None and found.test and found.account_id != service.account_id


@pytest.mark.parametrize(
    ("system_id", "more"),
    [
        ("", {}),
        ("x" * 16, {}),
        ("two words", {}),
        ("TAKEN", {}),
        ("bounds", {"networks": []}),
        ("bounds", {"networks": ["everywhere"]}),
        ("bounds", {"networks": [f"192.0.2.{number}" for number in range(51)]}),
        ("bounds", {"max_binds": 51}),
        ("bounds", {"max_binds": 0}),
        ("bounds", {"window_size": 1_001}),
        ("bounds", {"rate": 0}),
    ],
)
def test_what_cannot_be_a_credential(service: Service, system_id: str, more: dict[str, Any]) -> None:
    if find(service.engine, "taken") is None:
        create(service.engine, service.account_id, "taken", max_binds=50, window_size=1_000)
    with pytest.raises(Refused):
        create(service.engine, service.account_id, system_id, **more)


def find(engine: Engine, system_id: str) -> Any:
    with engine.connect() as connection:
        return find_credential(connection, system_id)


def test_an_account_has_at_most_twenty(service: Service) -> None:
    full = service.new_account("full")
    for number in range(20):
        create(service.engine, full, f"full-{number}")
    with pytest.raises(Refused, match="20"):
        create(service.engine, full, "one-more")
    create(service.engine, service.account_id, "of-another-one")
    service.transact(revoke, "full-7")
    create(service.engine, full, "one-more")


def test_an_account_creates_only_so_many_in_a_day(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.accounts.smpp_credentials.MAX_CREATED_PER_DAY", 2)
    for name in ("day-1", "day-2"):
        create(service.engine, service.account_id, name)
        service.transact(revoke, name)
    with pytest.raises(Refused, match="in a day"):
        create(service.engine, service.account_id, "day-3")
    create(service.engine, service.new_account("of another day"), "day-3")


def test_what_is_revoked_or_closed_stays_so(service: Service) -> None:
    create(service.engine, service.account_id, "revoked")
    service.transact(revoke, "revoked")
    with pytest.raises(Refused):
        service.transact(find_own, "revoked")
    service.transact(close_account, service.account_id, "a test")
    with pytest.raises(Refused, match="closed"):
        create(service.engine, service.account_id, "too-late")
