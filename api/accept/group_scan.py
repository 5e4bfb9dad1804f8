"""Scan a group's contacts to price a message with placeholders: missing values, and the maximum cost.

Postgres concatenates each contact's values and counts their units in a few microseconds per contact, so no contact is
loaded into the API. A part holds one unit less if its end would split an escaped character or a surrogate pair. The
count assumes that this happens wherever it can; the excess is released when the group is expanded.
"""

from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from shared.sends.templates import MAX_PLACEHOLDERS, Template
from shared.sms.countries import PREFIX_DIGITS
from shared.sms.gsm7 import CHARACTERS, EXTENSION, is_gsm7, septet_count
from shared.sms.segments import GSM7_PART, GSM7_SINGLE, MAX_CHARACTERS, UCS2_PART, UCS2_SINGLE

_VALUES: Final = " || ".join(
    f"repeat(left(CASE WHEN CAST(:name{slot} AS text) IS NULL THEN ''"
    f" ELSE coalesce(nullif(c.fields ->> :name{slot}, ''), CAST(:default{slot} AS text), c.fields ->> :name{slot}) END,"
    f" :most{slot}), :times{slot})"
    for slot in range(MAX_PLACEHOLDERS)
)
"""SQL: the values of a contact, concatenated; null if one is missing. Values that make the message too long are cut."""
_CONTACTS: Final = f"""
    FROM contact c CROSS JOIN LATERAL (SELECT {_VALUES} AS v OFFSET 0) AS x
   WHERE c.group_id = :group AND c.position <= :bound
"""
_COUNT: Final = f"""
    CASE WHEN u.ucs2 THEN
        CASE WHEN u.units <= {UCS2_SINGLE} THEN 1
             ELSE (u.units + {UCS2_PART - 1} - u.cuts) / ({UCS2_PART} - u.cuts) END
    ELSE
        CASE WHEN u.units <= {GSM7_SINGLE} THEN 1
             ELSE (u.units + {GSM7_PART - 1} - u.cuts) / ({GSM7_PART} - u.cuts) END
    END
"""
"""SQL: the maximum segments; `cuts` is 1 if a part may hold one unit less."""

NOT_GSM7: Final = "[^" + "".join(f"\\u{ord(character):04x}" for character in CHARACTERS) + "]"
"""Regular expression: a character outside GSM-7."""
EXACT_CHARACTERS = 160
"""Of longer values with emoji, the number of surrogate pairs is estimated: a microsecond for each would be too long. In
UTF-8 a pair takes three bytes more than a character has to, so there are no more of them than that."""

READ_PAGE = text(
    f"""
    SELECT m.prefix, count(*) AS contacts, count(v) AS complete,
           coalesce(sum(s.segments) FILTER (WHERE v IS NOT NULL), 0) AS segments,
           coalesce(max(s.segments) FILTER (WHERE v IS NOT NULL), 1) AS most,
           coalesce(bool_or(u.ucs2) FILTER (WHERE v IS NOT NULL), false) AS ucs2
      FROM (SELECT left(c.phone::text, {PREFIX_DIGITS}) AS prefix, v, NOT :gsm7 OR v ~ :other AS ucs2
            {_CONTACTS} OFFSET 0) AS m
     CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT m.ucs2 THEN length(m.v) - length(translate(m.v, :extension, ''))
                    WHEN NOT m.v ~ :beyond THEN 0
                    WHEN length(m.v) <= {EXACT_CHARACTERS}
                    THEN length(m.v) - length(regexp_replace(m.v, :beyond, '', 'g'))
                    ELSE (octet_length(m.v) - length(m.v)) / 3 END AS double OFFSET 0) AS e
     CROSS JOIN LATERAL (
        SELECT m.ucs2, CAST(least(1, e.double + CASE WHEN m.ucs2 THEN :pairs ELSE :escapes END) AS int) AS cuts,
               length(m.v) + e.double + CASE WHEN m.ucs2 THEN :units ELSE :septets END AS units OFFSET 0) AS u
     CROSS JOIN LATERAL (SELECT least(CAST(:max_segments AS int), {_COUNT}) AS segments OFFSET 0) AS s
     GROUP BY m.prefix
    """
)
"""Raw SQL, because each contact costs a few microseconds in the database: `OFFSET 0` has every value computed once."""
INCOMPLETE_CONTACTS = text(f"SELECT c.phone, c.fields {_CONTACTS} AND x.v IS NULL ORDER BY c.position LIMIT :limit")
"""Uses the same values as the count, so exactly the contacts that it left out are found."""


class GroupScan(NamedTuple):
    """The result of a scan."""

    contacts: int
    complete: dict[str, int]
    """Contacts that have a value for every placeholder, by the first digits of their phones."""
    segments: dict[str, int]
    """Maximum segments of their messages, likewise."""
    most: int
    """Maximum segments of one message."""
    ucs2: bool
    """Whether any message needs UCS-2."""


def scan_group(
    connection: Connection, group: UUID, bound: int, template: Template, max_segments: int | None
) -> GroupScan:
    """Count the contacts up to the position `bound`, and the maximum segments of their messages."""
    literal = "".join(part for part in template.parts if isinstance(part, str))
    utf16 = len(literal.encode("utf-16-le")) // 2
    values = {
        **_slots(template),
        "group": group,
        "bound": bound,
        "max_segments": max_segments,
        "gsm7": is_gsm7(literal),
        "other": NOT_GSM7,
        "extension": "".join(EXTENSION),
        "beyond": "[\U00010000-\U0010ffff]",
        "septets": septet_count(literal),
        "units": utf16,
        "escapes": int(any(character in EXTENSION for character in literal)),
        "pairs": int(utf16 > len(literal)),
    }
    rows = connection.execute(READ_PAGE, values).all()
    return GroupScan(
        sum(row.contacts for row in rows),
        {row.prefix: row.complete for row in rows if row.complete},
        {row.prefix: int(row.segments) for row in rows if row.complete},
        max((row.most for row in rows), default=1),
        any(row.ucs2 for row in rows),
    )


def contacts_lacking(
    connection: Connection, group: UUID, bound: int, template: Template, limit: int
) -> list[dict[str, object]]:
    """Up to `limit` contacts that lack a value, each with the name of its first missing value."""
    rows = connection.execute(INCOMPLETE_CONTACTS, {**_slots(template), "group": group, "bound": bound, "limit": limit})
    return [
        {
            "index": None,
            "phone": str(row.phone),
            "code": "missing_variable",
            "detail": f"The contact has no `{template.missing(row.fields or {})}`, and the message has no default.",
        }
        for row in rows
    ]


def _slots(template: Template) -> dict[str, Any]:
    """SQL parameters: a slot for each placeholder of the template; unused slots are empty."""
    placeholders = template.different
    slots: dict[str, Any] = {}
    for slot in range(MAX_PLACEHOLDERS):
        placeholder = placeholders[slot] if slot < len(placeholders) else None
        slots[f"name{slot}"] = placeholder and placeholder.name
        slots[f"default{slot}"] = placeholder and placeholder.default
        times = template.placeholders.count(placeholder) if placeholder else 0
        slots[f"times{slot}"], slots[f"most{slot}"] = times, MAX_CHARACTERS // max(1, times) + 1
    return slots
