"""Contact groups and the opt-out list.

A contact's position in its group is never used again, so a send to the group is bound by the last position at its
acceptance: who joins later is not in it. Group, contacts, count and last position change in one transaction, under the
lock of the group's row.
"""

from collections.abc import Iterable
from itertools import islice
from uuid import UUID

from sqlalchemy import Connection, text

from shared.accounts import Refused
from shared.ids import new_id
from shared.phones import invalid_detail, is_phone

PAGE = 100_000
"""Contacts of one statement: some seconds of work at the most."""

CREATE_GROUP = text(
    """
    INSERT INTO contact_group (id, account_id, name) VALUES (:id, :account, :name)
    ON CONFLICT (account_id, name) WHERE deleted_at IS NULL DO NOTHING
    """
)
DELETE_GROUP = text(
    """
    UPDATE contact_group SET deleted_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE id = :group AND deleted_at IS NULL
    """
)
LOCK_GROUP = text("SELECT last_position FROM contact_group WHERE id = :group AND deleted_at IS NULL FOR UPDATE")
ADD = text(
    """
    INSERT INTO contact (group_id, position, phone)
    SELECT :group, :last + row_number() OVER (ORDER BY u.place), u.phone
      FROM unnest(CAST(:phones AS bigint[])) WITH ORDINALITY AS u (phone, place)
     WHERE NOT EXISTS (SELECT FROM contact c WHERE c.group_id = :group AND c.phone = u.phone)
    """
)
ADDED = text(
    """
    UPDATE contact_group
       SET contact_count = contact_count + :count, last_position = last_position + :count,
           updated_at = clock_timestamp()
     WHERE id = :group
    """
)
REMOVE = text("DELETE FROM contact WHERE group_id = :group AND phone = ANY(:phones)")
REMOVED = text(
    """
    UPDATE contact_group SET contact_count = contact_count - :count, updated_at = clock_timestamp() WHERE id = :group
    """
)
SUPPRESS = text(
    """
    INSERT INTO suppression (account_id, phone, reason) VALUES (:account, :phone, :reason)
    ON CONFLICT (account_id, phone) DO NOTHING
    """
)
UNSUPPRESS = text("DELETE FROM suppression WHERE account_id = :account AND phone = :phone")


def create_group(connection: Connection, account_id: int, name: str) -> UUID:
    """Make an empty group. Refused where the account has one of that name."""
    if not name.strip():
        raise Refused("A group needs a name.")
    group = new_id()
    if not connection.execute(CREATE_GROUP, {"id": group, "account": account_id, "name": name}).rowcount:
        raise Refused(f"The account has a group {name!r} already. Take another name, or add contacts to that one.")
    return group


def delete_group(connection: Connection, group_id: UUID) -> None:
    """Let nothing more be sent to the group. Sends that were accepted before go on; its name is free again."""
    if not connection.execute(DELETE_GROUP, {"group": group_id}).rowcount:
        raise _unknown(group_id)


def add_contacts(connection: Connection, group_id: UUID, phones: Iterable[str | int]) -> int:
    """Add the phones that are not in the group yet, in their order. Returns how many that were."""
    last = _lock(connection, group_id)
    rest = iter(dict.fromkeys(_number(phone) for phone in phones))
    added = 0
    while page := list(islice(rest, PAGE)):
        added += connection.execute(ADD, {"group": group_id, "last": last + added, "phones": page}).rowcount
    if added:
        connection.execute(ADDED, {"group": group_id, "count": added})
    return added


def remove_contacts(connection: Connection, group_id: UUID, phones: Iterable[str | int]) -> int:
    """Take the phones out of the group. Returns how many were in it."""
    _lock(connection, group_id)
    removed = connection.execute(
        REMOVE, {"group": group_id, "phones": sorted({_number(phone) for phone in phones})}
    ).rowcount
    if removed:
        connection.execute(REMOVED, {"group": group_id, "count": removed})
    return removed


def suppress(connection: Connection, account_id: int, phone: str | int, reason: str) -> bool:
    """Send nothing more from this account to the phone. False when that was so already."""
    values = {"account": account_id, "phone": _number(phone), "reason": reason}
    return bool(connection.execute(SUPPRESS, values).rowcount)


def unsuppress(connection: Connection, account_id: int, phone: str | int) -> bool:
    """Let the account send to the phone again. False when it was not on the list."""
    return bool(connection.execute(UNSUPPRESS, {"account": account_id, "phone": _number(phone)}).rowcount)


def _lock(connection: Connection, group_id: UUID) -> int:
    last = connection.execute(LOCK_GROUP, {"group": group_id}).scalar()
    if last is None:
        raise _unknown(group_id)
    return int(last)


def _number(phone: str | int) -> int:
    if not is_phone(str(phone)):
        raise Refused(f"{phone!r} is no phone. {invalid_detail(str(phone))}")
    return int(phone)


def _unknown(group_id: UUID) -> Refused:
    return Refused(f"There is no group {group_id}, or it was deleted. `bulksms group list ACCOUNT` shows the groups.")
