"""Phone numbers as the service accepts them: international, digits only, no plus sign ("491701234567").

ITU-T E.164 allows 15 digits at most, and no country code starts with 0. The minimum of 8 digits is our choice: it
excludes short codes and local numbers. Nothing here corrects a number silently; errors say what to send instead.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from shared.plurals import counted
from shared.sms.written import is_spreadsheet_number, written_digits

MIN_DIGITS = 8
MAX_DIGITS = 15
QUOTED_CHARACTERS = 32
"""Of a rejected value, in an error."""

# [0-9] rather than \d, which matches the digits of every script; fullmatch rather than $, which allows a final newline.
PHONE = re.compile(r"[1-9][0-9]{7,14}")
_PHONE_LINES = re.compile(r"(?:[1-9][0-9]{7,14}+\n)*+")

_TRUNK_ZERO = re.compile(r"\(\s*0\s*\)")

_JSON_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class ScreenedPhones:
    """The result of screening a list of recipients. Indexes are positions in the given list.

    `accepted_index` has the position of each accepted phone, or is None if nothing was rejected (the positions are then
    0, 1, 2 ...). `rejected` is in the order of the list.
    """

    accepted: list[str]
    accepted_index: list[int] | None
    rejected: list[dict[str, object]]

    @property
    def indexes(self) -> Sequence[int]:
        """The position of each accepted phone."""
        return self.accepted_index or range(len(self.accepted))

    def reject(self, reasons: Mapping[int, Mapping[str, object]]) -> "ScreenedPhones":
        """The same with some accepted phones rejected. `reasons` has the code and detail of each, by its position."""
        if not reasons:
            return self
        phones = list(zip(self.indexes, self.accepted, strict=True))
        rejected = [{"index": index, "phone": phone, **reasons[index]} for index, phone in phones if index in reasons]
        return ScreenedPhones(
            [phone for index, phone in phones if index not in reasons],
            [index for index, _ in phones if index not in reasons],
            sorted([*self.rejected, *rejected], key=lambda entry: int(str(entry["index"]))),
        )


def is_phone(text: str) -> bool:
    """Whether the text is exactly 8 to 15 ASCII digits that do not start with 0."""
    return PHONE.fullmatch(text) is not None


def suggest(text: str) -> str | None:
    """The digits to send if only a plus sign, a leading 00, a bullet or separators are wrong; otherwise None.

    "+49 170 123-4567" gives "491701234567". "+49 (0)170 1234567" and "2) 491701234567" give None: with the zero or the
    2 it would be somebody else's number.
    """
    digits = written_digits(text)
    return digits if digits is not None and is_phone(digits) else None


def invalid_detail(value: object) -> str:
    """An error message for a value that is not a phone: what is wrong, and what to send."""
    if not isinstance(value, str):
        type_name = _JSON_NAMES.get(type(value), "something else")
        return f'A phone number is a string of digits, not {type_name}; send a string such as "491701234567".'
    suggestion = suggest(value)
    if suggestion is not None:
        return _suggestion_detail(suggestion)
    if is_spreadsheet_number(value):
        return "This is a number as a spreadsheet writes it: format the column as text, and enter or export it again."
    if not value.strip():
        return "The phone number is empty; send the digits of an international number."
    if _TRUNK_ZERO.search(value):
        return "The (0) is only dialed inside the country. Remove it and send digits only."
    if not (value.isascii() and value.isdigit()):
        return "A phone number is the digits 0-9 only; send an international number with nothing but its digits."
    if value.startswith("0"):
        return "The phone number starts with 0; start with the country code."
    if len(value) < MIN_DIGITS:
        digits = counted(len(value), "digit")
        return f"The phone number has {digits} and needs at least {MIN_DIGITS}; include the country code."
    return f"The phone number has {len(value)} digits and may have at most {MAX_DIGITS}; send one number per entry."


def screen(phones: list[object], allow_duplicates: bool) -> ScreenedPhones:
    """Split a list into phones and rejected entries, both in the list's order.

    Repeated phones are rejected as duplicates of the first, unless `allow_duplicates`. Entries of `rejected`:

        {"index": 3, "phone": "+49 170 1234567", "code": "invalid_phone", "detail": "...", "suggestion": "491701234567"}
        {"index": 4, "phone": "491701234567", "code": "duplicate", "duplicate_of": 0}

    `phone` is the given value, cut to 32 characters, or None if it was not a string. `suggestion` is optional.
    """
    if _all_phones(phones):
        valid = cast(list[str], phones)
        if allow_duplicates or len(set(valid)) == len(valid):
            return ScreenedPhones(accepted=list(valid), accepted_index=None, rejected=[])
    return _screen_each(phones, allow_duplicates)


def mask(phone: str) -> str:
    """Mask a phone for logs: its first 3 and last 2 characters with asterisks between them.

    Anything shorter than a phone is masked completely, because five characters would be most of it.
    """
    if len(phone) < MIN_DIGITS:
        return "*" * len(phone)
    return f"{phone[:3]}{'*' * (len(phone) - 5)}{phone[-2:]}"


def _all_phones(phones: list[object]) -> bool:
    """Whether every item is a phone, in one regex match over all of them: 100,000 take a few milliseconds."""
    if not phones:
        return True
    try:
        lines = "\n".join(cast(list[str], phones)) + "\n"
    except TypeError:
        return False
    # A string that contains a newline would pass for two phones, so compare the count.
    return lines.count("\n") == len(phones) and _PHONE_LINES.fullmatch(lines) is not None


def _screen_each(phones: list[object], allow_duplicates: bool) -> ScreenedPhones:
    """Screen item by item, for lists with something to reject."""
    accepted: list[str] = []
    accepted_index: list[int] = []
    rejected: list[dict[str, object]] = []
    first_seen: dict[str, int] = {}

    for index, phone in enumerate(phones):
        if not isinstance(phone, str) or not is_phone(phone):
            rejected.append(_invalid(index, phone))
            continue
        first = first_seen.setdefault(phone, index)
        if first != index and not allow_duplicates:
            rejected.append({"index": index, "phone": phone, "code": "duplicate", "duplicate_of": first})
            continue
        accepted.append(phone)
        accepted_index.append(index)

    return ScreenedPhones(accepted, accepted_index, rejected)


def _invalid(index: int, value: object) -> dict[str, object]:
    entry: dict[str, object] = {"index": index, "phone": None, "code": "invalid_phone"}
    suggestion = None
    if isinstance(value, str):
        entry["phone"] = value[:QUOTED_CHARACTERS]
        suggestion = suggest(value)
    if suggestion is None:
        return entry | {"detail": invalid_detail(value)}
    return entry | {"detail": _suggestion_detail(suggestion), "suggestion": suggestion}


def _suggestion_detail(suggestion: str) -> str:
    return f"A phone number is digits only, without a plus sign, leading 00 or separators; send {suggestion}."
