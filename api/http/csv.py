"""CSV: request bodies read row by row, and lines whose cells a spreadsheet never evaluates as formulas."""

import csv
import io
import re
from collections.abc import Iterable, Iterator

from api.http.uploaded_file import check_media_type, chunks_of_file, not_csv, open_file
from api.problems import Problem
from shared.contacts.formulas import defused, restored
from shared.contacts.text_stream import SUBSTITUTE

MAX_COLUMNS = 100
CSV_PAGE = 5_000
"""Rows of an export that are read at a time."""
QUOTED = re.compile('[,"\n\r]')
"""What makes RFC 4180 §2 require quotes."""


def csv_line(values: Iterable[object]) -> str:
    """Format the values as one CSV line; None becomes an empty cell."""
    return ",".join("" if value is None else csv_cell(str(value)) for value in values) + "\n"


def csv_cell(value: str) -> str:
    """Defuse the formulas in a value, and quote it where RFC 4180 §2 requires it."""
    value = defused(value)
    return '"' + value.replace('"', '""') + '"' if QUOTED.search(value) else value


def read_csv(limit: int, column: str, max_rows: int) -> Iterator[dict[str, str]]:
    """Yield each row as a mapping of lower-case column name to cell, without empty cells. `column` must be present.

    Formulas that `csv_cell` defused are restored. Only the current chunk of the body is in memory. Raises Problem:
    payload_too_large over `limit` bytes, too_many_recipients after `max_rows` rows, unsupported_media_type, or
    validation_failed if the file is not CSV with that column.
    """
    check_media_type(("text/csv",), limit)
    lines = (line for chunk in chunks_of_file(open_file(limit)) for line in io.StringIO(chunk, newline="\n"))
    first = next(lines, "")
    reader = csv.reader(_checked(first, lines), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        names = [name.strip().lower() for name in next(reader, [])[: MAX_COLUMNS + 1]]
        if column not in names:
            raise not_csv(f"The first line must name the columns; `{column}` is missing.")
        if len(names) > MAX_COLUMNS:
            raise not_csv(f"The first line names more than {MAX_COLUMNS} columns.")
        taken = 0
        for read, row in enumerate(reader, 1):
            is_row = any(cell.strip() for cell in row)
            taken += is_row
            if taken > max_rows or read > 2 * max_rows:  # empty rows take time as well
                raise _too_many(max_rows)
            if is_row:
                yield {name: restored(cell.strip()) for name, cell in zip(names, row, strict=False) if cell.strip()}
    except csv.Error as error:
        raise not_csv(f"Line {reader.line_num} is not CSV: {error}.") from None


def _checked(first: str, lines: Iterator[str]) -> Iterator[str]:
    line = first
    while line:
        if SUBSTITUTE in line:
            raise not_csv("The file contains a NUL character.")
        yield line
        line = next(lines, "")


def _too_many(max_rows: int) -> Problem:
    detail = f"The file has more than {max_rows:,} rows, the maximum for one request."
    return Problem("too_many_recipients", detail, max=max_rows)
