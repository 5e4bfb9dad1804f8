"""Contact groups and the opt-out list."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Connection, Engine, Row, text

from shared.accounts.administration import Refused, create_account
from shared.contacts import groups as contacts
from shared.contacts.groups import add_contacts, create_group, delete_group, remove_contacts

A, B, C = "254711000001", "254711000002", "254711000003"


@pytest.fixture
def account(connection: Connection) -> int:
    return create_account(connection, "acme")


@pytest.fixture
def group(connection: Connection, account: int) -> UUID:
    return create_group(connection, account, "Customers")


def members(connection: Connection, group: UUID) -> list[tuple[int, str]]:
    rows = connection.execute(
        text("SELECT position, phone FROM contact WHERE group_id = :group ORDER BY position"), {"group": group}
    )
    return [(row.position, str(row.phone)) for row in rows]


def counted(connection: Connection, group: UUID) -> Row[tuple[int, int]]:
    return connection.execute(
        text("SELECT contact_count, last_position FROM contact_group WHERE id = :group"), {"group": group}
    ).one()


def test_a_phone_is_in_a_group_once(connection: Connection, group: UUID) -> None:
    add_contacts(connection, group, [B])
    assert add_contacts(connection, group, [A, B, int(A), C]) == 2
    assert members(connection, group) == [(1, B), (2, A), (3, C)]
    assert add_contacts(connection, group, []) == 0


def test_a_position_is_never_used_again(connection: Connection, group: UUID) -> None:
    add_contacts(connection, group, [A, B])
    assert remove_contacts(connection, group, [B, C]) == 1
    assert counted(connection, group) == (1, 2)
    add_contacts(connection, group, [B])
    assert members(connection, group) == [(1, A), (3, B)]
    assert counted(connection, group) == (2, 3)


def test_positions_are_consecutive_over_pages(
    connection: Connection, group: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contacts, "CONTACTS_PER_STATEMENT", 10)
    phones = [str(254711000000 + number) for number in range(95)]
    add_contacts(connection, group, phones[20:40])
    assert add_contacts(connection, group, phones) == 75
    assert members(connection, group) == list(enumerate(phones[20:40] + phones[:20] + phones[40:], 1))
    assert counted(connection, group) == (95, 95)


def test_additions_at_the_same_time_do_not_collide(engine: Engine) -> None:
    with engine.begin() as connection:
        group = create_group(connection, create_account(connection, "in a hurry"), "Everybody")

    def add(start: int) -> int:
        with engine.begin() as connection:
            return add_contacts(connection, group, range(254711000000 + start, 254711000200 + start))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(add, range(0, 800, 100))) == 900
    with engine.connect() as connection:
        assert [position for position, _ in members(connection, group)] == list(range(1, 901))
        assert counted(connection, group) == (900, 900)


def test_a_deleted_group_takes_nothing_more_and_frees_its_name(
    connection: Connection, account: int, group: UUID
) -> None:
    with pytest.raises(Refused, match="already"):
        create_group(connection, account, "Customers")
    add_contacts(connection, group, [A])
    delete_group(connection, group)
    assert members(connection, group) == [(1, A)]
    for refused in (
        lambda: add_contacts(connection, group, [B]),
        lambda: remove_contacts(connection, group, [A]),
        lambda: delete_group(connection, group),
        lambda: delete_group(connection, uuid4()),
    ):
        with pytest.raises(Refused, match="no group"):
            refused()
    assert create_group(connection, account, "Customers") != group
