"""CSV: exports, and request bodies that are read row by row."""

import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from api.http.responses import CsvResponse
from api.http.uploaded_file import check_media_type, chunks_of_file, not_csv, open_file, wrong_columns
from api.problems import Problem
from shared.contacts.columns import NoContacts, read_columns
from shared.contacts.csv_lines import csv_line
from shared.contacts.formulas import restored
from shared.contacts.phone_cells import PhoneCells, phones_in
from shared.contacts.rows import SAMPLE_CHARACTERS, RowReader, cells_problem
from shared.contacts.text_stream import SUBSTITUTE
from shared.sms.numbering import Numbering
from shared.sms.phones import QUOTED_CHARACTERS

PROBLEM = "PROBLEM"
"""Names what is wrong with a row. Columns are named in lower case."""
CSV_PAGE = 5_000
"""Rows of an export that are read at a time."""


def export(
    filename: str,
    header: Iterable[object],
    read: Callable[[Any], tuple[Iterable[Any], Any]],
    values: Callable[[Any], Iterable[object]],
    after: Any = None,
) -> CsvResponse:
    """A CSV file, streamed page by page. `values` are the cells of a row.

    `read` returns the rows after a position, and the position at which they end; None if no row follows.
    """

    def lines() -> Iterator[str]:
        yield csv_line(header)
        position = after
        while True:
            rows, position = read(position)
            yield "".join(csv_line(values(row)) for row in rows)
            if position is None:
                return

    return CsvResponse(lines(), filename)


def read_csv(
    limit: int, max_rows: int, numbering: Numbering, phone_column: str | None = None
) -> Iterator[dict[str, str]]:
    """Yield each phone of the rows of the request's file, as `phone`, with the row's other cells.

    Cells are named by their columns in lower case; empty ones are left out. A row with several phones of a person
    gives a mapping for each. A row whose country or cells make its phone uncertain, or that says in a column for
    opt-outs that its person has not opted out, has a PROBLEM. Formulas that `csv_cell` defused are restored. Only the
    current chunk of the body is in memory.
    Raises Problem: payload_too_large over `limit` bytes, too_many_recipients after `max_rows` rows,
    unsupported_media_type, or validation_failed if the file is not CSV or the column of its phones is not certain.
    """
    check_media_type(("text/csv",), limit)
    chunks = chunks_of_file(open_file(limit))
    head = ""
    for chunk in chunks:
        head += chunk
        if len(head) >= SAMPLE_CHARACTERS:
            break
    found = read_columns(head, numbering, is_whole=len(head) < SAMPLE_CHARACTERS)
    if found is None:
        raise not_csv("The first line must name the columns; `phone` is missing.")
    try:
        columns = found.phones(phone_column)
    except NoContacts as refused:
        if not refused.candidates:
            raise not_csv("The first line must name the columns; `phone` is missing.") from None
        raise wrong_columns(refused) from None
    names = [name.lower() for name in found.names] if found.has_names else []
    consent = found.consent()
    lines = (line for chunk in chain((head,), chunks) for line in io.StringIO(chunk, newline="\n"))
    taken = 0
    cells_of_phones = PhoneCells(numbering, *columns, found.countries())
    for read, (line, row, problem) in enumerate(RowReader(lines, found.delimiter)):
        cells = [restored(cell.strip()) for cell in row]
        if problem is not None or any(SUBSTITUTE in cell for cell in cells):
            raise not_csv(f"Line {line:,} is not CSV: {problem or 'it has a NUL character.'}")
        is_row = line >= found.first_line and any(cells)
        taken += is_row
        if taken > max_rows or read > 2 * max_rows:  # empty rows take time as well
            raise _too_many(max_rows)
        if is_row:
            given = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
            filled = [found.names[at] for at in consent.opt_out_cells(cells)]
            if filled and not consent.say_opted_out(cells):
                given[PROBLEM] = f"The column {filled[0][:QUOTED_CHARACTERS]!r} says that the person has not opted out."
            if columns.columns[0] and (wrong := cells_problem(cells, found.width, found.delimiter)):
                given[PROBLEM] = wrong
            of_row = cells_of_phones.numbering(cells)
            found_phones = [each for at in columns.columns if at < len(cells) for each in phones_in(cells[at], of_row)]
            if not found_phones:
                written = cells_of_phones.find(cells).written
                if of_row is not numbering:
                    given[PROBLEM] = of_row.problem(written)["detail"]
                yield {**given, "phone": written}
            for each in dict.fromkeys(found_phones):
                yield {**given, "phone": each if of_row is numbering else f"+{each}"}


def _too_many(max_rows: int) -> Problem:
    detail = f"The file has more than {max_rows:,} rows, the maximum for one request."
    return Problem("too_many_recipients", detail, max=max_rows)
