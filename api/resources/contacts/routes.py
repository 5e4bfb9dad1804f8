"""The contacts of a group."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, Text, bindparam, column, func, select, true, type_coerce
from sqlalchemy.dialects.postgresql import ARRAY

from api.act_once import act_once
from api.auth.tokens import Caller
from api.commit.draft import MAX_INLINE_ENTRIES, encode
from api.endpoint import endpoint, key_of_request, services
from api.http.bounded_queries import filtered_page, reading_list
from api.http.csv import export
from api.http.request import current_request
from api.http.responses import CsvResponse
from api.idempotency import IdempotentResponse, replay_if_repeated
from api.problems import MAX_ERRORS, Problem
from api.resources.contacts.entries import ReadEntries, read_entries
from api.resources.contacts.schemas import (
    ContactPaging,
    ContactResponse,
    ContactsBody,
    PhonesBody,
    PutContactsResponse,
    RemovedContactsResponse,
)
from api.resources.groups.routes import find_group
from api.schemas.paging import by_number
from shared.contacts import groups as contacts
from shared.contacts.tags import cell_of
from shared.db.connection import reading
from shared.db.tables import contacts as tables
from shared.sms.numbering import Numbering, numbering_of
from shared.sms.phones import is_phone

CONTACTS = tables.contact.c
LISTED = (CONTACTS.position, CONTACTS.phone, CONTACTS.fields, CONTACTS.tags)
NAMES = func.jsonb_object_keys(CONTACTS.fields).table_valued(column("name", Text)).lateral("names")
FIELDS = (
    select(NAMES.c.name)
    .distinct()
    .select_from(tables.contact)
    .join(NAMES, true())
    .where(CONTACTS.group_id == bindparam("group"), CONTACTS.fields.is_not(None))
    .order_by(NAMES.c.name)
    .limit(bindparam("limit"))
)
CONTACTS_PER_TRANSACTION = 10_000
"""Contacts that are put in one transaction: some tenths of a second."""
CONTACTS_PAGE = 1_000
"""Contacts of an export that are read at a time."""
MAX_COLUMNS = 200
"""Fields of a group that an export has columns for; of more, it has one column, as JSON."""


class PutProgress(NamedTuple):
    """The contacts that a request has put so far, from the first on."""

    contacts: int = 0
    added: int = 0
    changed: int = 0


@endpoint(
    "GET",
    "/groups/<uuid:group_id>/contacts",
    query=ContactPaging,
    pages=by_number(ContactResponse, "position"),
    scope="groups:read",
)
def list_contacts(
    caller: Caller, connection: Connection, group_id: UUID, query: dict[str, Any], after: int, limit: int
) -> Any:
    """List the contacts of a group in the order they were added; with `Accept: text/csv`, stream all as CSV."""
    group = find_group(connection, caller, group_id)
    if current_request().wants_csv:
        names = list(connection.execute(FIELDS, {"group": group_id, "limit": MAX_COLUMNS + 1}).scalars())
        kept = names if len(names) <= MAX_COLUMNS else None
        return _csv(group_id, kept, query, numbering_of(group.country))
    rows, end = _page(connection, group_id, query, after, limit)
    return [{**row._mapping, "fields": row.fields or {}, "tags": row.tags or []} for row in rows], end


@endpoint(
    "POST",
    "/groups/<uuid:group_id>/contacts",
    body=ContactsBody,
    response=PutContactsResponse,
    errors=("no_valid_contacts", "group_full"),
    scope="groups:write",
    large=True,
)
def add_contacts(caller: Caller, group_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Add up to 100,000 contacts to a group, or update those already in it.

    `fields` and `tags` replace those of an existing contact; if omitted, they are unchanged. Phone numbers may be in
    the national format of the account's country. Invalid entries are reported in `rejected`; the others are accepted.
    """
    key = key_of_request(caller, body)
    with reading(services().engine) as connection:
        group = find_group(connection, caller, group_id)
        repeated = replay_if_repeated(connection, key)
    if repeated is not None:
        return repeated
    # Before the transaction, which would otherwise stay open during the parsing.
    entries = read_entries(body["contacts"], numbering_of(group.country))
    fits = group.contact_count + len(entries.contacts) <= contacts.MAX_CONTACTS
    first_pages = _put_first_pages(group_id, entries.contacts) if fits else PutProgress()

    def act(connection: Connection) -> dict[str, Any]:
        find_group(connection, caller, group_id)
        if not entries.contacts:
            rejected = entries.rejected[:MAX_ERRORS]
            raise Problem("no_valid_contacts", "No entry is a valid contact.", rejected=rejected)
        return _put(connection, group_id, entries, first_pages)

    return act_once(caller, body, act)


@endpoint(
    "DELETE",
    "/groups/<uuid:group_id>/contacts",
    body=PhonesBody,
    response=RemovedContactsResponse,
    scope="groups:write",
    large=True,
)
def remove_contacts(caller: Caller, group_id: UUID, body: dict[str, Any]) -> Any:
    """Remove up to 100,000 phone numbers from a group. Phone numbers that are not in it are counted as `absent`."""
    with reading(services().engine) as connection:
        numbering = numbering_of(find_group(connection, caller, group_id).country)
    phones, others, as_stored = set[str](), set[str](), set[str]()
    for entry in body["phones"]:
        phone = numbering.read(entry) if isinstance(entry, str) else None
        if phone is not None and phone != entry and is_phone(entry):
            as_stored.add(entry)  # it may be the contact as this API shows it, and a national number besides
        (others if phone is None else phones).add(phone or str(entry))
    with services().engine.begin() as connection:
        find_group(connection, caller, group_id)
        for entry in contacts.of_group(connection, group_id, as_stored):
            phones.discard(str(numbering.read(entry)))
            phones.add(entry)
        removed = contacts.remove_contacts(connection, group_id, phones)
        left = find_group(connection, caller, group_id).contact_count
    return {
        "group_id": group_id,
        "contact_count": left,
        "removed": removed,
        "absent": len(phones) + len(others) - removed,
    }


def _put_first_pages(group_id: UUID, new: Sequence[contacts.Contact]) -> PutProgress:
    """Put all pages but the last, each in its own transaction: readers of events wait for whoever has written.

    If the request fails after them, its repetition finds their contacts unchanged.
    """
    done, added, changed = 0, 0, 0
    while len(new) - done > CONTACTS_PER_TRANSACTION:
        with services().engine.begin() as connection:
            put = contacts.put_contacts(connection, group_id, new[done : done + CONTACTS_PER_TRANSACTION])
        done, added, changed = done + CONTACTS_PER_TRANSACTION, added + put.added, changed + put.changed
    return PutProgress(done, added, changed)


def _put(connection: Connection, group_id: UUID, entries: ReadEntries, first: PutProgress) -> dict[str, Any]:
    last = contacts.put_contacts(connection, group_id, entries.contacts[first.contacts :])
    added, changed = first.added + last.added, first.changed + last.changed
    duplicates = sum(entry["code"] == "duplicate" for entry in entries.rejected)
    response: dict[str, Any] = {
        "group_id": group_id,
        "contact_count": last.contact_count,
        "counts": {
            "submitted": len(entries.contacts) + len(entries.rejected),
            "added": added,
            "changed": changed,
            "unchanged": len(entries.contacts) - added - changed,
            "duplicate": duplicates,
            "invalid": len(entries.rejected) - duplicates,
        },
        "rejected": entries.rejected[:MAX_INLINE_ENTRIES],
    }
    if len(entries.rejected) > MAX_INLINE_ENTRIES:
        response["rejected_truncated"] = True
    return response


def _page(
    connection: Connection, group_id: UUID, query: dict[str, Any], after: int, limit: int
) -> tuple[Sequence[Row[Any]], Row[Any] | None]:
    """A page of contacts, and the last row examined if the filters have not examined all."""
    listed = select(*LISTED).where(CONTACTS.group_id == group_id, CONTACTS.position > after)
    if "phone" in query:
        listed = listed.where(CONTACTS.phone == int(query["phone"]))
    filters = [type_coerce(CONTACTS.tags, ARRAY(Text)).contains([query["tag"]])] if "tag" in query else []
    return filtered_page(connection, listed, [CONTACTS.position], filters, limit)


def _csv(group_id: UUID, names: list[str] | None, query: dict[str, Any], numbering: Numbering) -> CsvResponse:
    engine = services().engine

    def read(after: int) -> tuple[Sequence[Row[Any]], int | None]:
        with reading_list(engine) as connection:
            rows, end = _page(connection, group_id, query, after, CONTACTS_PAGE)
        last = rows[-1] if len(rows) == CONTACTS_PAGE else end
        return rows, None if last is None else last.position

    def values(row: Row[Any]) -> list[Any]:
        fields = row.fields or {}
        shown = [encode(fields) if fields else None] if names is None else [fields.get(name) for name in names]
        return [numbering.as_listed(row.phone), *shown, cell_of(row.tags or [])]

    return export(f"{group_id}.csv", ["phone", *(["fields"] if names is None else names), "tags"], read, values, 0)
