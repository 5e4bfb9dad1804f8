"""Contact groups.

Positions in a group are never reused. A send to a group stores the last position when it is accepted, so contacts added
later are not in it. Group, contacts, count and last position change in one transaction, under the lock of the group's
row.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from shared.accounts.administration import Refused
from shared.contacts.phones import as_number
from shared.db.expressions import in_parameter
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.contacts import contact, contact_group
from shared.ids import new_id

CONTACTS_PER_STATEMENT = 100_000
"""It takes at most a few seconds."""
MAX_CONTACTS = 10_000_000
"""Maximum size of a group."""

MAX_GROUPS = 10_000
"""Maximum number of groups of an account, without deleted ones."""

LIVE = contact_group.c.deleted_at.is_(None)
LIVE_OF_ACCOUNT = select(contact_group.c.id).where(contact_group.c.account_id == bindparam("account"), LIVE)
GROUPS = select(func.count()).select_from(LIVE_OF_ACCOUNT.limit(MAX_GROUPS).subquery())
CREATE_GROUP = (
    insert(contact_group)
    .on_conflict_do_nothing(index_elements=["account_id", "name"], index_where=LIVE)
    .returning(contact_group.c.id)
)
OF_GROUP = contact_group.c.id == bindparam("group")
UPDATE_GROUP = update(contact_group).where(OF_GROUP).values(updated_at=func.clock_timestamp())
DELETE_GROUP = UPDATE_GROUP.where(LIVE).values(deleted_at=func.clock_timestamp())
RENAME_GROUP = UPDATE_GROUP.where(LIVE).values(name=bindparam("new_name"))
LOCK_GROUP = (
    select(*contact_group.c["last_position", "contact_count"]).where(OF_GROUP, LIVE).with_for_update(key_share=True)
)
IS_NEW = "(SELECT c.position FROM contact c WHERE c.group_id = :group AND c.phone = u.phone) IS NULL"
"""A lookup per phone: without statistics an anti-join would compare each phone with all contacts."""
ADD = text(
    f"""
    INSERT INTO contact (group_id, position, phone, fields, tags)
    SELECT :group, :last + row_number() OVER (ORDER BY u.place), u.phone, nullif(CAST(u.fields AS jsonb), '{{}}'),
           (SELECT array_agg(t) FROM jsonb_array_elements_text(CAST(u.tags AS jsonb)) AS t)
      FROM unnest(CAST(:phones AS bigint[]), CAST(:fields AS text[]), CAST(:tags AS text[]))
           WITH ORDINALITY AS u (phone, fields, tags, place)
     WHERE {IS_NEW}
    """
)
"""Adds the phones that are new, at the next positions. Lists of fields and tags that are null stand for any number of
nulls."""
CHANGE = text(
    """
    UPDATE contact c SET fields = g.fields, tags = g.tags
      FROM (SELECT o.position,
                   CASE WHEN u.fields IS NULL THEN o.fields ELSE nullif(CAST(u.fields AS jsonb), '{}') END AS fields,
                   CASE WHEN u.tags IS NULL THEN o.tags ELSE
                       (SELECT array_agg(t) FROM jsonb_array_elements_text(CAST(u.tags AS jsonb)) AS t) END AS tags
              FROM unnest(CAST(:phones AS bigint[]), CAST(:fields AS text[]), CAST(:tags AS text[]))
                   AS u (phone, fields, tags)
              JOIN contact o ON o.group_id = :group AND o.phone = u.phone) AS g
     WHERE c.group_id = :group AND c.position = g.position AND (c.fields, c.tags) IS DISTINCT FROM (g.fields, g.tags)
    """
)
"""Changes contacts that differ. They are looked up before the update, so that unchanged ones are neither locked nor
written: an import that is repeated changes nothing."""
ADDED = UPDATE_GROUP.values(
    contact_count=contact_group.c.contact_count + bindparam("added"),
    last_position=contact_group.c.last_position + bindparam("added"),
)
REMOVE = delete(contact).where(contact.c.group_id == bindparam("group"), in_parameter(contact.c.phone, "phones"))
REMOVED = UPDATE_GROUP.values(contact_count=contact_group.c.contact_count - bindparam("removed"))


class UnknownGroup(Refused):
    """The group does not exist or was deleted."""


class GroupFull(Refused):
    """The group would exceed its maximum size."""


class Contact(NamedTuple):
    """A contact to store. Fields and tags replace existing ones; None leaves them unchanged."""

    phone: int
    fields: Mapping[str, str] | None = None
    tags: Sequence[str] | None = None


class PutResult(NamedTuple):
    """Result of `put_contacts`; contacts not counted were in the group unchanged."""

    added: int
    changed: int
    contact_count: int


def create_group(connection: Connection, account_id: int, name: str) -> UUID:
    """Create an empty group. Raises Refused: the name is taken, or there are too many."""
    if not name.strip():
        raise Refused("A group needs a name.")
    one_at_a_time(connection, "groups", account_id)
    if connection.execute(GROUPS, {"account": account_id}).scalar_one() >= MAX_GROUPS:
        raise Refused(f"An account has at most {MAX_GROUPS:,} groups.", code="group_limit")
    group = new_id()
    values = {"id": group, "account_id": account_id, "name": name}
    if connection.execute(CREATE_GROUP, values).one_or_none() is None:
        raise _taken(name)
    return group


def rename_group(connection: Connection, group_id: UUID, name: str) -> None:
    """Rename a group. Raises Refused if its name is taken, which leaves the transaction aborted."""
    try:
        if not connection.execute(RENAME_GROUP, {"group": group_id, "new_name": name}).rowcount:
            raise _unknown(group_id)
    except IntegrityError:
        raise _taken(name) from None


def delete_group(connection: Connection, group_id: UUID) -> None:
    """Delete a group and free its name. Accepted sends to it continue."""
    if not connection.execute(DELETE_GROUP, {"group": group_id}).rowcount:
        raise _unknown(group_id)


def put_contacts(connection: Connection, group_id: UUID, contacts: Sequence[Contact]) -> PutResult:
    """Add new contacts in their order, and update existing ones. Phones must be unique.

    Raises UnknownGroup or GroupFull.
    """
    group = _lock(connection, group_id)
    added = changed = 0
    for start in range(0, len(contacts), CONTACTS_PER_STATEMENT):
        values = {
            "group": group_id,
            "last": group.last_position + added,
            "fields": None,
            "tags": None,
            **_columns(contacts[start : start + CONTACTS_PER_STATEMENT]),
        }
        if values["fields"] is not None:
            changed += connection.execute(CHANGE, values).rowcount
        added += connection.execute(ADD, values).rowcount
    if group.contact_count + added > MAX_CONTACTS:
        reason = f"A group has at most {MAX_CONTACTS:,} contacts. Make another group for the rest."
        raise GroupFull(reason, code="group_full")
    if added:
        connection.execute(ADDED, {"group": group_id, "added": added})
    return PutResult(added, changed, group.contact_count + added)


def add_contacts(connection: Connection, group_id: UUID, phones: Iterable[str | int]) -> int:
    """Add phones that are not in the group yet, in their order. Returns the number added."""
    numbers = dict.fromkeys(as_number(phone) for phone in phones)
    return put_contacts(connection, group_id, [Contact(number) for number in numbers]).added


def remove_contacts(connection: Connection, group_id: UUID, phones: Iterable[str | int]) -> int:
    """Remove phones from the group. Returns the number removed."""
    _lock(connection, group_id)
    removed = connection.execute(
        REMOVE, {"group": group_id, "phones": sorted({as_number(phone) for phone in phones})}
    ).rowcount
    if removed:
        connection.execute(REMOVED, {"group": group_id, "removed": removed})
    return removed


def _lock(connection: Connection, group_id: UUID) -> Row[Any]:
    group = connection.execute(LOCK_GROUP, {"group": group_id}).one_or_none()
    if group is None:
        raise _unknown(group_id)
    return group


def _columns(contacts: Sequence[Contact]) -> dict[str, list[Any]]:
    """The contacts as columns; `fields` and `tags` only if any contact has them."""
    columns: dict[str, list[Any]] = {"phones": [contact.phone for contact in contacts]}
    if any(contact.fields is not None or contact.tags is not None for contact in contacts):
        columns["fields"] = [_json(contact.fields) for contact in contacts]
        columns["tags"] = [_json(contact.tags) for contact in contacts]
    return columns


def _json(value: Mapping[str, str] | Sequence[str] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _taken(name: str) -> Refused:
    reason = f"The account already has a group {name!r}. Choose another name, or add contacts to that group."
    return Refused(reason, code="name_taken")


def _unknown(group_id: UUID) -> UnknownGroup:
    hint = "`bulksms group list ACCOUNT` shows the groups."
    return UnknownGroup(f"There is no group {group_id}, or it was deleted.", hint, "group_not_found")


def of_group(connection: Connection, group_id: UUID, phones: Collection[str]) -> list[str]:
    """Which of the phones are contacts of the group."""
    if not phones:
        return []
    found = select(contact.c.phone).where(contact.c.group_id == group_id, contact.c.phone.in_(map(int, phones)))
    return list(map(str, connection.execute(found).scalars()))
