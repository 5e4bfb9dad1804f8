"""The row of a file that has the names of the columns."""

from collections.abc import Sequence
from typing import Final

from shared.contacts.column_names import ANY_PHONE, is_of_opt_outs, rank
from shared.contacts.phone_cells import reads_like_phone
from shared.sms.numbering import Numbering
from shared.sms.written import DATE

TITLE_ROWS: Final = 10
"""The row of names is looked for among so many."""


def header_at(rows: Sequence[list[str]], numbering: Numbering) -> int | None:
    """The place of the row of names, also below titles; None if there is none."""
    return _below_titles(rows, numbering) or (0 if _is_header(rows, numbering) else None)


def _below_titles(rows: Sequence[list[str]], numbering: Numbering) -> int:
    """The first row with a name of phones, in whose column phones are below it, but not above. 0 if none is.

    It is none if a row above that is as full has a name such as `Contact` there.
    """
    if any(map(is_of_opt_outs, rows[0])):
        return 0
    for at, names in enumerate(rows[:TITLE_ROWS]):
        full = [row for row in rows[:at] if sum(map(bool, row)) >= sum(map(bool, names))]
        for place, name in enumerate(names):
            if rank(name) >= ANY_PHONE and not reads_like_phone(name, numbering):
                are_phones = [place < len(row) and reads_like_phone(row[place], numbering) for row in rows]
                is_named = any(place < len(row) and rank(row[place]) == 2 for row in full)
                if any(are_phones[at + 1 :]) and not any(are_phones[:at]) and not is_named:
                    return at
    return 0


def _is_header(rows: Sequence[list[str]], numbering: Numbering) -> bool:
    """Whether the first row has the names of the columns: no phones, and words above the phones of the others.

    A phone in it is a name only if there is a name of phones too, and if its own column has something else below it.
    """
    first, below = rows[0], rows[1:]
    values = [[row[at] for row in below if at < len(row) and row[at]] for at in range(len(first))]
    have_phones = [any(reads_like_phone(value, numbering) for value in column) for column in values]
    phones = [at for at, cell in enumerate(first) if reads_like_phone(cell, numbering) or _has_only_digits(cell)]
    if phones:
        has_name = any(has and rank(name) >= ANY_PHONE for name, has in zip(first, have_phones, strict=True))
        return has_name and all(values[at] and not have_phones[at] for at in phones)
    above = [cell for cell, has in zip(first, have_phones, strict=True) if has]
    return not above or any(any(map(str.isalpha, cell)) for cell in above)


def _has_only_digits(cell: str) -> bool:
    """Whether it may be meant as a phone, although it cannot be read as one. No name of a column is like that."""
    return sum(map(str.isdecimal, cell)) >= 8 and not any(map(str.isalpha, cell)) and not DATE.fullmatch(cell)
