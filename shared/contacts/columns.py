"""The columns of a file of contacts: which has the phones, which the tags, and which are fields.

The column of the phones is found by its name and by the values of the first rows: mobile phones come before others.
Nothing is guessed: where two columns are as likely, or none is, a person has to name it.
"""

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from shared.contacts.column_names import (
    ANY_PHONE,
    is_of_countries,
    is_of_same_person,
    labeled_phones,
    rank,
)
from shared.contacts.consent import ConsentColumns, consent_columns
from shared.contacts.fields import MAX_FIELDS
from shared.contacts.header_rows import header_at
from shared.contacts.phone_cells import phones_in, reads_like_phone
from shared.contacts.rows import sample_rows
from shared.sms.numbering import Numbering, is_mobile, is_valid

USUAL_NAMES: Final = "phone, mobile, msisdn, telephone, cell, recipient, whatsapp, telefon, handy"
TAG_COLUMNS: Final = ("tags", "tag", "labels", "group_membership")
MAX_COLUMNS: Final = 1_000
"""Columns of a file that are looked at."""
SHOWN_CANDIDATES: Final = 10
SHOWN_VALUES: Final = 3
SHOWN_CHARACTERS: Final = 60
"""Of a name or a value of the file."""
NAME_LENGTH: Final = 32
"""Characters of the name of a field."""
_NOT_OF_NAMES = re.compile(r"[^a-z0-9_]+")


class Candidate(NamedTuple):
    """A column that may have the phones: its number from 1, its name, and some of its values."""

    number: int
    name: str
    values: list[str]


class NoContacts(Exception):
    """The file as a whole is not usable. The message says why, and has no values of the file.

    `parameter` is what mends it, and `candidates` are the columns that may have the phones.
    """

    def __init__(self, detail: str, parameter: str = "", candidates: Sequence[Candidate] = ()) -> None:
        super().__init__(detail)
        self.parameter = parameter
        self.candidates = candidates

    def with_values(self) -> str:
        """The message with values of the candidates, for whoever has the file."""
        shown = [f"{each.number} `{each.name}` ({', '.join(each.values)})" for each in self.candidates]
        return f"{self} Columns: {'; '.join(shown)}." if shown else str(self)


class PhoneColumns(NamedTuple):
    """The column of the phones and others of the same persons, and the column of each one's label, if they have any."""

    columns: list[int]
    labels: list[int]


@dataclass(frozen=True)
class FileColumns:
    """The format of a file, by its first rows."""

    numbering: Numbering
    delimiter: str
    names: list[str]
    """Those of the header; without one, the numbers of the columns from 1."""
    has_names: bool
    first_line: int
    """The lines before it have no contacts."""
    rows: list[list[str]]
    """The first rows of contacts, without blanks around their cells."""
    width: int = 0
    """The number of names, if most of these rows have no cell beyond them; otherwise 0."""

    def values(self, at: int) -> list[str]:
        """The first cells of a column that are not empty."""
        return [row[at] for row in self.rows if at < len(row) and row[at]]

    def phones(self, asked: str | None = None) -> PhoneColumns:
        """The columns of the phones, or the `asked` one: its name, or its number from 1. Raises NoContacts."""
        if asked is not None:
            return PhoneColumns([self._asked(asked)], [])
        if self.has_names and (labeled := labeled_phones(self.names)):
            return PhoneColumns([at for at, _ in labeled], [label for _, label in labeled])
        if len(self.likely) != 1:
            raise self._ambiguous()
        (main,) = self.likely
        others = enumerate(self.names) if self._ranks[main] > ANY_PHONE else ()
        return PhoneColumns([main, *(at for at, name in others if at != main and is_of_same_person(name))], [])

    @cached_property
    def likely(self) -> list[int]:
        """The columns that have the phones, each as likely as the others: one if that is certain."""
        having = [at for at, share in enumerate(self._shares) if share]
        mostly = [at for at in having if self._shares[at] >= 0.5]
        if len(self.names) == 1 and (having or not self.has_names):
            return [0]
        if not self.has_names:
            return self._by_plan(self._by_plan(mostly, is_valid), is_mobile)
        if named := [at for at in having if self._ranks[at] >= ANY_PHONE]:
            best = [at for at in named if self._ranks[at] == max(self._ranks[each] for each in named)]
            may_be_of_another = self._ranks[best[0]] == 7 and not all(is_of_same_person(self.names[at]) for at in best)
            rivals = [at for at in named if self._ranks[at] > ANY_PHONE or at < best[0]]
            return self._alike(rivals if may_be_of_another else best)
        if numbers := [at for at in mostly if self._ranks[at] == 2]:
            return numbers
        if having:
            is_elsewhere = max(self._ranks) >= ANY_PHONE or (len(having) == 1 and self._ranks[having[0]] < 0)
            return [] if is_elsewhere else having
        plain = [at for at, each in enumerate(self._ranks) if each in (5, 6, 8)]
        return sorted(plain, key=lambda at: -self._ranks[at])[:1]

    def tags(self, phones: Container[int]) -> int | None:
        """The column of the tags."""
        found = (self._field_names.index(name) for name in TAG_COLUMNS if name in self._field_names)
        return next((at for at in found if at not in phones), None)

    def consent(self) -> ConsentColumns:
        """The columns that say whether the person may get messages."""
        return consent_columns(self.names if self.has_names else ())

    def countries(self) -> list[int]:
        """The columns that name the country of a row's phones."""
        return [at for at, name in enumerate(self.names if self.has_names else ()) if is_of_countries(name)]

    def fields(self, taken: Container[int | None], asked: Sequence[str] | None = None) -> dict[str, int]:
        """The columns of fields by name: the `asked` ones, or as many as a contact may have. Raises NoContacts.

        Those that are empty in the first rows come last.
        """
        named = {name: at for name, at in self.field_columns().items() if at not in taken}
        if asked is None:
            first = set(sorted(named, key=lambda name: not self.values(named[name]))[:MAX_FIELDS])
            return {name: at for name, at in named.items() if name in first}
        columns = {each.casefold(): name for name, at in named.items() for each in (self.names[at], name)}
        unknown = [name for name in asked if name.casefold() not in columns]
        if unknown or len(asked) > MAX_FIELDS:
            problem = f"has no field {unknown[0][:100]!r}" if unknown else f"can give a contact {MAX_FIELDS} fields"
            raise NoContacts(f"The file {problem}. Its fields are: {', '.join(named)}."[:2_000], "fields")
        return {name: named[name] for name in (columns[each.casefold()] for each in asked)}

    def left(self, taken: Container[int | None]) -> list[str]:
        """The names of the columns that are not read."""
        unread = [at for at in range(len(self.names)) if at not in taken]
        return [
            self.names[at] or str(at + 1) for at in unread if self.values(at) or (self.has_names and self.names[at])
        ]

    @cached_property
    def _field_names(self) -> list[str]:
        return [field_name(name) for name in self.names] if self.has_names else []

    @cached_property
    def _ranks(self) -> list[int]:
        return [rank(name) if self.has_names else 0 for name in self.names]

    @cached_property
    def _shares(self) -> list[float]:
        """The share of phones among the values of each column."""
        return [self._share(self.values(at), lambda v: reads_like_phone(v, self.numbering)) for at in self._places]

    @property
    def _places(self) -> range:
        return range(len(self.names))

    @staticmethod
    def _share(values: Sequence[str], counts: Callable[[str], bool]) -> float:
        return sum(map(counts, values)) / len(values) if values else 0

    def _alike(self, columns: list[int]) -> list[int]:
        """Of columns with names of the same rank, those that may be meant: one if they have the same phones."""
        columns = self._by_plan(columns, is_mobile)
        filled = [[row[at] for at in columns if at < len(row) and row[at]] for row in self.rows]
        if any(len(cells) > 1 for cells in filled) and all(len(set(cells)) < 2 for cells in filled):
            return [max(columns, key=lambda at: len(self.values(at)))]
        return columns

    def _by_plan(self, columns: list[int], is_wanted: Callable[[str], bool]) -> list[int]:
        """Of several columns those in which most phones are such phones; all of them if none has."""
        if len(columns) < 2:
            return columns
        phones = {
            at: [each for value in self.values(at) for each in phones_in(value, self.numbering)] for at in columns
        }
        return [at for at in columns if self._share(phones[at], is_wanted) >= 0.5] or columns

    def field_columns(self) -> dict[str, int]:
        """Columns by the names of fields, each other than the rest; of columns that are called the same, the first."""
        named: dict[str, int] = {}
        for at, column in enumerate(self.names if self.has_names else ()):
            if column and column not in self.names[:at]:
                name, number = field_name(column) or f"column_{at + 1}", 1
                while name in named:
                    number += 1
                    name = f"{field_name(column)[: NAME_LENGTH - 5]}_{number}"
                named[name] = at
        return named

    def _asked(self, asked: str) -> int:
        names, wanted = [name.casefold() for name in self.names], asked.strip().casefold()
        if self.has_names and names.count(wanted) == 1:
            return names.index(wanted)
        if wanted.isdecimal() and 0 < int(wanted[:9]) <= len(names):
            return int(wanted) - 1
        detail = f"The file has no single column {asked[:100]!r}. Give the number of a column, from 1."
        raise NoContacts(detail, "phone_column", self._candidates(self._places))

    def _ambiguous(self) -> NoContacts:
        candidates = self._candidates(self.likely or [at for at in self._places if self._shares[at]])
        where = "columns in the first row" if self.has_names else "columns"
        what = "is certainly that of" if candidates else "has"
        detail = f"None of the {where} {what} the phone numbers. Call it one of: {USUAL_NAMES}."
        return NoContacts(f"{detail} Or give its name or number as `phone_column`.", "phone_column", candidates)

    def _candidates(self, columns: Sequence[int]) -> list[Candidate]:
        shown = [(at, [value[:SHOWN_CHARACTERS] for value in self.values(at)[:SHOWN_VALUES]]) for at in columns]
        return [Candidate(at + 1, self.names[at][:SHOWN_CHARACTERS], values) for at, values in shown][:SHOWN_CANDIDATES]


def read_columns(text: str, numbering: Numbering, *, is_whole: bool = True) -> FileColumns | None:
    """The format of a file by the beginning of its text; None if that has no row that is not blank."""
    delimiter, rows = sample_rows(text, is_whole=is_whole)
    if not rows:
        return None
    cells = [row[:MAX_COLUMNS] for _, row in rows]
    width = max(map(len, cells))
    at = header_at(cells, numbering)
    if at is not None:
        names, below, named = cells[at] + [""] * (width - len(cells[at])), cells[at + 1 :], len(cells[at])
        fitting = sum(not any(row[named:]) for row in below)
        most = named if fitting and 2 * fitting >= len(below) and named < MAX_COLUMNS else 0
        return FileColumns(numbering, delimiter, names, True, rows[at][0] + 1, below, most)
    return FileColumns(numbering, delimiter, [str(at + 1) for at in range(width)], False, rows[0][0], cells)


def field_name(column: str) -> str:
    """The name of the field, and so of the placeholder, for a column: `First Name` is `first_name`."""
    name = _NOT_OF_NAMES.sub("_", column.strip().lower()).strip("_")
    return ("_" + name if name[:1].isdigit() else name)[:NAME_LENGTH]
