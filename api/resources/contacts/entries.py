"""Validate each contact of a request separately, so that the valid ones can be accepted."""

from typing import Any, NamedTuple

from api.schemas.spelling import MAX_COMPARED, nearest_name
from shared.contacts.fields import MAX_FIELDS, MAX_TAGS, name_problem, tag_problem, value_problem
from shared.contacts.groups import Contact
from shared.sms.numbering import Numbering
from shared.sms.phones import QUOTED_CHARACTERS

KNOWN = ("phone", "fields", "tags")


class ReadEntries(NamedTuple):
    """Valid contacts, each phone once, and the rejected entries with their indexes and reasons."""

    contacts: list[Contact]
    rejected: list[dict[str, object]]


def read_entries(entries: list[object], numbering: Numbering) -> ReadEntries:
    """Separate valid contacts from invalid entries. A repeated phone is rejected as a duplicate of the first."""
    contacts: list[Contact] = []
    rejected: list[dict[str, object]] = []
    first: dict[int, int] = {}
    for index, entry in enumerate(entries):
        result = _read(entry, numbering, with_hint=len(rejected) < MAX_COMPARED)
        if isinstance(result, Contact):
            original = first.setdefault(result.phone, index)
            if original == index:
                contacts.append(result)
                continue
            detail = "The phone number appears earlier in the list."
            result = {"code": "duplicate", "detail": detail, "duplicate_of": original}
        rejected.append({"index": index, "phone": _given_phone(entry), **result})
    return ReadEntries(contacts, rejected)


def _read(entry: object, numbering: Numbering, with_hint: bool) -> Contact | dict[str, Any]:
    """The contact, or the problem with the entry."""
    values: dict[str, Any] = entry if isinstance(entry, dict) else {"phone": entry}
    unknown = next((name for name in values if name not in KNOWN), None)
    if unknown is not None:
        nearest = nearest_name(unknown, KNOWN) if with_hint else None
        hint = f"Did you mean `{nearest}`?" if nearest else "The fields are phone, fields and tags."
        return {"code": "unknown_field", "detail": f"There is no field {unknown[:40]!r}. {hint}"}
    given, fields, tags = values.get("phone"), values.get("fields"), values.get("tags")
    if not isinstance(given, str):
        return {"code": "invalid_phone", "detail": 'Write the phone number as a string, such as "254711000000".'}
    phone = numbering.read(given)
    if phone is None:
        return numbering.problem(given)
    return _fields_problem(fields) or _tags_problem(tags) or Contact(int(phone), fields, tags)


def _fields_problem(fields: Any) -> dict[str, Any] | None:
    if fields is None:
        return None
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        return {"code": "wrong_type", "detail": 'Write `fields` as an object of strings, such as {"name": "Ann"}.'}
    if len(fields) > MAX_FIELDS:
        return {"code": "too_long", "detail": f"A contact has at most {MAX_FIELDS} fields; {len(fields)} are given."}
    for name, value in fields.items():
        problem = name_problem(name) or value_problem(value)
        if problem:
            return {"code": "invalid", "detail": f"{name[:40]!r}: {problem}"}
    return None


def _tags_problem(tags: Any) -> dict[str, Any] | None:
    if tags is None:
        return None
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return {"code": "wrong_type", "detail": 'Write `tags` as a list of strings, such as ["vip"].'}
    if len(tags) > MAX_TAGS:
        return {"code": "too_long", "detail": f"A contact has at most {MAX_TAGS} tags; {len(tags)} are given."}
    problem = next(filter(None, map(tag_problem, tags)), None)
    return {"code": "invalid", "detail": problem} if problem else None


def _given_phone(entry: object) -> str | None:
    phone = entry.get("phone") if isinstance(entry, dict) else entry
    return phone[:QUOTED_CHARACTERS] if isinstance(phone, str) else None
