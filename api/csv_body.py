"""Reads a request's body that is CSV: UTF-8, its first line the names of the columns."""

import csv
import io
from collections.abc import Iterator

from flask import request

from api.body import read_bytes
from api.problems import Problem, invalid


def read_csv(limit: int, column: str) -> Iterator[dict[str, str]]:
    """The rows by column, in small letters, empty cells left out; `column` is one of them.

    Raises Problem: payload_too_large over `limit` bytes, unsupported_media_type, or validation_failed for what is no
    CSV in UTF-8 with that column.
    """
    raw = read_bytes(limit)
    if request.mimetype != "text/csv":
        given = f"`{request.mimetype}`" if request.mimetype else "no Content-Type"
        raise Problem("unsupported_media_type", f"The body came with {given}; only text/csv is read.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong("The body is not UTF-8.") from None
    if "\0" in text:
        raise _wrong("The body has a NUL character.")
    return _rows(text, column)


def _rows(text: str, column: str) -> Iterator[dict[str, str]]:
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        if column not in names:
            raise _wrong(f"The first line names the columns; none of them is `{column}`.")
        for row in reader:
            if any(cell.strip() for cell in row):
                yield {name: cell.strip() for name, cell in zip(names, row, strict=False) if cell.strip()}
    except csv.Error as error:
        raise _wrong(f"Line {reader.line_num} is no CSV: {error}.") from None


def _wrong(detail: str) -> Problem:
    return invalid([{"pointer": "", "code": "invalid", "detail": detail}])
