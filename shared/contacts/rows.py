"""Rows of CSV, read line by line as spreadsheets read them, and the delimiter of a file.

A quote that does not begin a cell is a character. One that is not closed within MAX_ROW_LINES lines is a mistake: only
its own line is reported, and the lines after it are rows of their own.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from shared.contacts.column_names import ANY_PHONE, rank

MAX_ROW_CHARACTERS: Final = 8_192
"""Maximum size of a row of several lines in characters; a quote that makes it longer is a mistake."""
MAX_ROW_LINES: Final = 50
OPEN_QUOTE: Final = "The row has a quote that does not end. Close it, or write a quote inside a cell twice."
DELIMITERS: Final = ",;\t|"
"""The first of them is that of a file with one column."""
MORE_CELLS: Final = "The row has more cells than the first row has names: put quotes around values with separators."
ONE_CELL: Final = "The whole row is in quotes, as one cell: take these away, and write the others once."
SAMPLE_ROWS: Final = 50
"""Rows by which a file's delimiter and columns are recognized."""
SAMPLE_CHARACTERS: Final = 64 * 1024

_SEPARATOR_LINE = re.compile(r'"?sep=(?P<delimiter>\\t|[^\w"\s]|\t)"?[;,]*', re.IGNORECASE)
"""What Excel reads, and others write, before the rows: `sep=;`."""
_DIGITS = re.compile(r"[+(0-9][0-9 ()./+-]{6,20}")


Row = tuple[int, list[str], str | None]
"""The number of a row's first line, from 1, and its cells; or none, and why it cannot be read."""


class RowReader:
    """Iterates over the rows of lines, which keep their line feeds, blank rows included.

    Unless the lines are the `last` of the text, a row that may continue after them is left in `rest`. `line` is the
    number of lines before what comes next.
    """

    def __init__(self, lines: Iterable[str], delimiter: str, line: int = 0, *, last: bool = True) -> None:
        self.line = line
        self.rest = ""
        self._delimiter = delimiter
        self._lines = iter(lines)
        self._last = last
        self._row: list[str] = []
        """The lines of the row that is being read."""
        self._is_cut = False
        """Whether the row was given up before its end."""

    def __iter__(self) -> Iterator[Row]:
        while True:
            self._is_cut = False
            reader = csv.reader(self._fed(), delimiter=self._delimiter)
            try:
                for cells in reader:
                    if self._is_cut:
                        break
                    yield self.line + 1, cells, None
                    self.line += len(self._row)
                    self._row.clear()
                else:
                    return
                problem = OPEN_QUOTE
            except csv.Error as error:
                problem = f"The row is not CSV: {error}. Check its quotes."
            if (
                self._is_cut
                and not self._last
                and len(self._row) < MAX_ROW_LINES
                and self._size() <= MAX_ROW_CHARACTERS
            ):
                self.rest = "".join(self._row)
                return
            yield self.line + 1, [], problem
            self.line += 1
            self._lines = chain(self._row[1:], self._lines)
            self._row.clear()

    def _fed(self) -> Iterator[str]:
        """The lines for the reader of one row after another, until a row is too long."""
        row = self._row
        for line in self._lines:
            row.append(line)
            if len(row) > 1 and (len(row) > MAX_ROW_LINES or self._size() > MAX_ROW_CHARACTERS):
                break
            yield line
        self._is_cut = True

    def _size(self) -> int:
        return sum(len(line.rstrip("\n")) for line in self._row)


def cells_problem(cells: Sequence[str], width: int, delimiter: str) -> str | None:
    """Why cells may be in the wrong columns, of which there are `width` (0: any number); None if nothing shows that."""
    if not width:
        return None
    if len(cells) > width and any(cells[width:]):
        return MORE_CELLS
    return ONE_CELL if width > len(cells) == 1 and '"' in cells[0] and delimiter in cells[0] else None


class SampleRows(NamedTuple):
    """The delimiter of a file, and its first rows that are not blank, with the numbers of their lines."""

    delimiter: str
    rows: list[tuple[int, list[str]]]


def sample_rows(text: str, *, is_whole: bool) -> SampleRows:
    """The first rows of the text, in the format that its first lines have. They may be none."""
    if len(text) > SAMPLE_CHARACTERS:
        text = text[: text.rfind("\n", 0, SAMPLE_CHARACTERS) + 1] or text[:SAMPLE_CHARACTERS]
        is_whole = False
    first, _, rest = text.partition("\n")
    if named := _SEPARATOR_LINE.fullmatch(first.strip(" \r\ufeff")):
        delimiter = named["delimiter"].replace("\\t", "\t")
        return SampleRows(delimiter, _rows(rest, delimiter, is_whole, 1))
    found = {each: _rows(text, each, is_whole, 0) for each in DELIMITERS}
    delimiter = max(found, key=lambda each: _fit(found[each]))
    return SampleRows(delimiter, found[delimiter])


def _rows(text: str, delimiter: str, is_whole: bool, line: int) -> list[tuple[int, list[str]]]:
    rows: list[tuple[int, list[str]]] = []
    for number, row, _ in RowReader(io.StringIO(text, newline="\n"), delimiter, line, last=is_whole):
        cells = [cell.strip() for cell in row]
        if any(cells):
            rows.append((number, cells))
        if len(rows) == SAMPLE_ROWS:
            break
    return rows


def _fit(rows: list[tuple[int, list[str]]]) -> tuple[int, int, int]:
    """How well a delimiter fits: the rows that have as many cells as the first one, cells like phones, and cells.

    Above that one may be titles, which are one cell: then it is that with a name of phones.
    """
    named = (len(cells) for _, cells in rows if len(cells) > 1 and any(rank(cell) >= ANY_PHONE for cell in cells))
    width = len(rows[0][1]) if rows else 0
    if width == 1:
        width = next(named, 1)
    if width < 2:
        return 0, 0, 0
    phones = sum(_DIGITS.fullmatch(cell) is not None for _, cells in rows for cell in cells)
    return sum(len(cells) == width for _, cells in rows), phones, width
