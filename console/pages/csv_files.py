"""CSV files: streamed from the API to the browser, and uploaded."""

import codecs
import re
from collections.abc import Iterator
from os import SEEK_END
from typing import IO

from flask import Response, flash
from flask_babel import gettext

CHUNK_BYTES = 64 * 1024
FILE = {"": "file"}
"""For a form: errors that the API reports for the whole body belong to its file."""
WINDOWS_1252 = "text/csv; charset=windows-1252"
"""The default encoding of CSV from spreadsheet programs in Western Europe, Africa and the Americas."""


def download(chunks: Iterator[bytes], name: str) -> Response:
    """A file of the API, passed on chunk by chunk."""
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)
    response = Response(chunks, mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}"'
    return response


def content_type_of(file: IO[bytes]) -> str:
    """`text/csv`, or for a file that is not UTF-8 `WINDOWS_1252`; the file is then at its beginning."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf_8 = True
    try:
        if not file.read(2).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # the API knows these
            file.seek(0)
            while chunk := file.read(CHUNK_BYTES):
                decoder.decode(chunk)
            decoder.decode(b"", True)
    except UnicodeDecodeError:
        is_utf_8 = False
    file.seek(0)
    return "text/csv" if is_utf_8 else WINDOWS_1252


def length_of(file: IO[bytes]) -> int:
    """The size of a file in bytes; it is then at its beginning."""
    length = file.seek(0, SEEK_END)
    file.seek(0)
    return length


def tell_encoding(content_type: str) -> None:
    """Say that a file was read as Windows-1252, if it was."""
    if content_type == WINDOWS_1252:
        text = gettext("The file is not UTF-8, so it is read as Windows-1252. Check the accented letters.")
        flash(text, "warn")
