"""The phone of a row: in the first of its columns of phones, and of the numbers in one cell the first."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from shared.contacts.column_names import says_fax, says_mobile
from shared.contacts.row_countries import InCountry, numbering_of_row
from shared.sms.numbering import Numbering, is_mobile
from shared.sms.written import DATE, written_digits

_BETWEEN_PHONES = re.compile(r"\s*(?::::|[,;/|\n])\s*")
"""Google Contacts and others write several numbers in a cell: `+254 711 000 301 ::: +254 711 000 302`."""
_FORMULA_OF_DIGITS = re.compile(r'="([-+0-9 ()./]*)"')
"""How programs keep the zeros of a number in a spreadsheet: `="0711000301"`."""
LONGEST_CELL: Final = 500
"""Characters of a cell in which several phones are looked for."""
FEWEST_DIGITS: Final = 6
"""A part of a cell with fewer digits belongs to the number before it, such as an extension."""


def unwrapped(cell: str) -> str:
    """The cell's number without the formula that keeps its zeros in a spreadsheet; any other cell as it is."""
    formula = _FORMULA_OF_DIGITS.fullmatch(cell) if cell.startswith("=") else None
    return cell if formula is None else formula[1].strip()


def phones_in(cell: str, numbering: Numbering | InCountry) -> list[str]:
    """The international digits of the phones in a cell, in their order. Empty if any digits may belong to none."""
    cell = unwrapped(cell.lstrip("'"))
    if phone := numbering.read(cell):
        return [phone]
    parts = _BETWEEN_PHONES.split(cell) if len(cell) <= LONGEST_CELL else [cell]
    if len(parts) == 1 or any(0 < sum(map(str.isdigit, part)) < FEWEST_DIGITS for part in parts):
        return []
    return [phone for part in parts if (phone := numbering.read(part))]


def reads_like_phone(cell: str, numbering: Numbering) -> bool:
    """Whether it is written as a phone, if only of another country, and not as a date."""
    if not any(map(str.isdigit, cell)) or DATE.fullmatch(cell):
        return False
    digits = written_digits(unwrapped(cell.lstrip("'")))
    is_written = digits is not None and len(digits) >= 8 and not DATE.fullmatch(digits)
    return is_written or bool(phones_in(cell, numbering))


class FoundPhone(NamedTuple):
    """The phone of a row; None if it has none. `note` is the code of a note if it was not simply its cell."""

    phone: str | None
    written: str
    note: str | None = None


class PhoneCells:
    """Finds the phone of each row in its `columns`, of which the first counts most.

    With `labels`, the columns that say what each of them is, as Google Contacts has them, a mobile phone comes first.
    Otherwise another column counts only where the first one has no digits, and only for a mobile phone. `countries` are
    the columns that name the country of a row's phones.
    """

    def __init__(
        self, numbering: Numbering, columns: Sequence[int], labels: Sequence[int] = (), countries: Sequence[int] = ()
    ) -> None:
        self._numbering = numbering
        self._columns = columns
        self._labels = labels
        self._countries = countries

    def numbering(self, cells: Sequence[str]) -> Numbering | InCountry:
        """How the numbers of a row are read."""
        return numbering_of_row(self._numbering, cells, self._countries) if self._countries else self._numbering

    def find(self, cells: Sequence[str]) -> FoundPhone:
        """The phone of a row."""
        main, numbering = _cell(cells, self._columns[0]).lstrip("'"), self.numbering(cells)
        if not self._labels:
            if phone := numbering.read(main):
                return FoundPhone(phone, main)
            if phones := phones_in(main, numbering):
                return FoundPhone(phones[0], main, "several_phones" if len(phones) > 1 else None)
            if any(map(str.isdigit, main)):
                return FoundPhone(None, main)
        others = self._in_order(cells)
        found = [(phones, place) for place in others if (phones := phones_in(_cell(cells, place), numbering))]
        for phones, place in found:
            if is_mobile(phones[0]) or self._is_labeled_mobile(cells, place):
                return self._found(phones, place, cells)
        return self._found(*found[0], cells) if found and self._labels else FoundPhone(None, main)

    def problem(self, cells: Sequence[str], written: str) -> dict[str, str]:
        """The `code` and `detail` of a row without a phone."""
        filled = {place for place in self._columns if _cell(cells, place)}
        if self._labels and filled and not filled.intersection(self._in_order(cells)):
            return {"code": "invalid_phone", "detail": "The row has only a fax or pager."}
        return self.numbering(cells).problem(written)

    def _found(self, phones: Sequence[str], place: int, cells: Sequence[str]) -> FoundPhone:
        note = "other_column" if place != self._columns[0] else "several_phones" if len(phones) > 1 else None
        return FoundPhone(phones[0], _cell(cells, place), note)

    def _in_order(self, cells: Sequence[str]) -> Sequence[int]:
        if not self._labels:
            return self._columns[1:]
        others = [place for place in self._columns if not says_fax(self._label(cells, place))]
        return sorted(others, key=lambda place: not self._is_labeled_mobile(cells, place))

    def _is_labeled_mobile(self, cells: Sequence[str], place: int) -> bool:
        return says_mobile(self._label(cells, place))

    def _label(self, cells: Sequence[str], place: int) -> str:
        return _cell(cells, self._labels[self._columns.index(place)]) if self._labels else ""


def _cell(cells: Sequence[str], place: int) -> str:
    return cells[place] if 0 <= place < len(cells) else ""
