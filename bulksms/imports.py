"""Imports contacts from a CSV file of any size: row by row, with the memory of one page."""

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TextIO
from uuid import UUID

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from sqlalchemy import Engine

from bulksms.commands.common import messages
from shared.accounts import Refused
from shared.contacts import add_contacts
from shared.database import transaction
from shared.phones import invalid_detail, is_phone

PAGE = 10_000
"""Phones of one transaction."""
SHOWN = 20
QUOTED = 40
"""Characters shown of a bad value."""


class Bad(NamedTuple):
    """A row that has no phone."""

    line: int
    value: str
    detail: str


@dataclass(slots=True)
class Report:
    """What an import did."""

    added: int = 0
    known: int = 0
    """Phones that were in the group already, or more than once in the file."""
    bad: int = 0
    first_bad: list[Bad] = field(default_factory=list)


def import_contacts(engine: Engine, group_id: UUID, file: Path, errors: Path | None = None) -> Report:
    """Add the file's phones to the group, and write its bad rows to `errors`. Shows its progress.

    Raises Refused for an unknown group or a file that is no CSV; the pages before are then in the group.
    """
    report = Report()
    with ExitStack() as stack:
        progress = stack.enter_context(_progress())
        rows = stack.enter_context(progress.open(file, "r", encoding=_encoding(file), errors="replace", newline=""))
        refused = csv.writer(stack.enter_context(errors.open("w", newline=""))) if errors else None
        if refused:
            refused.writerow(["line", "value", "detail"])
        page: list[str] = []
        for line, value in read_phones(rows):
            if is_phone(value):
                page.append(value)
            else:
                bad = Bad(line, value[:QUOTED], invalid_detail(value))
                report.bad += 1
                if report.bad <= SHOWN:
                    report.first_bad.append(bad)
                if refused:
                    refused.writerow(bad)
            if len(page) == PAGE:
                _add(engine, group_id, page, report)
                page = []
        _add(engine, group_id, page, report)
    return report


def read_phones(rows: TextIO) -> Iterator[tuple[int, str]]:
    """Line number and text of each row's phone. A first row without a digit is a header."""
    sample = rows.readline()
    reader = csv.reader(_chain(sample, rows), delimiter=_delimiter(sample))
    column = 0
    try:
        for row in reader:
            if reader.line_num == 1 and row and not any(letter.isdigit() for letter in row[0]):
                names = [name.strip().lower() for name in row]
                column = names.index("phone") if "phone" in names else 0
            elif row and "".join(row).strip():
                yield reader.line_num, row[column].strip() if column < len(row) else ""
    except csv.Error as error:
        raise Refused(f"Line {reader.line_num} is no CSV: {error}. Correct it and run the import again.") from None


def _add(engine: Engine, group_id: UUID, page: list[str], report: Report) -> None:
    with transaction(engine) as connection:
        added = add_contacts(connection, group_id, page)
    report.added += added
    report.known += len(page) - added


def _chain(first: str, rest: TextIO) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _encoding(file: Path) -> str:
    """UTF-8, or UTF-16 where the file's first bytes say so, as some spreadsheets write it."""
    with file.open("rb") as opened:
        return "utf-16" if opened.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def _progress() -> Progress:
    return Progress(
        TextColumn("Importing"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=messages(),
        transient=True,
    )
