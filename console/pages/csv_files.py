"""CSV files: streamed from the API to the browser, and uploaded."""

import codecs
import re
from collections.abc import Iterator
from os import SEEK_END
from typing import IO, NamedTuple

from flask import Response, flash, request
from flask_babel import gettext, lazy_gettext

from console.pages.forms import Form
from shared.contacts.charsets import is_western

_ = lazy_gettext

CHUNK_BYTES = 64 * 1024
FILE = {"": "file", "phone_column": "file"}
"""For a form: errors that the API reports for the whole body belong to its file."""
WINDOWS_1252 = "text/csv; charset=windows-1252"
"""The default encoding of CSV from spreadsheet programs in Western Europe, Africa and the Americas."""


CHARSETS = {
    "": _("Recognize it"),
    "utf-8": "UTF-8",
    "windows-1252": _("Western European (Windows-1252)"),
    "windows-1250": _("Central European (Windows-1250)"),
    "windows-1251": _("Cyrillic (Windows-1251)"),
    "windows-1253": _("Greek (Windows-1253)"),
    "windows-1254": _("Turkish (Windows-1254)"),
    "windows-1255": _("Hebrew (Windows-1255)"),
    "windows-1256": _("Arabic (Windows-1256)"),
    "windows-1257": _("Baltic (Windows-1257)"),
    "windows-1258": _("Vietnamese (Windows-1258)"),
    "macintosh": _("Western European (Macintosh)"),
    "ibm850": _("Western European (DOS)"),
}
"""The charsets that a person can choose for a file."""
CHOOSE_CHARSET = _("The file is not in UTF-8. Choose its encoding, and choose the file again.")
EXAMINED_CHUNKS = 16
"""After the first that is not UTF-8."""


def download(chunks: Iterator[bytes], name: str) -> Response:
    """A file of the API, passed on chunk by chunk."""
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)
    response = Response(chunks, mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}"'
    return response


def content_type_of(file: IO[bytes], charset: str = "") -> str | None:
    """`text/csv` with the chosen charset, or for a file that is not UTF-8 `WINDOWS_1252`; None if it may be another.

    The file is then at its beginning.
    """
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    kind: str | None = f"text/csv; charset={charset}" if charset in CHARSETS and charset else "text/csv"
    if charset or file.read(2).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # the API knows these
        file.seek(0)
        return kind
    file.seek(0)
    chunk = b""
    try:
        while chunk := file.read(CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        examined = chunk + file.read(EXAMINED_CHUNKS * CHUNK_BYTES)
        kind = WINDOWS_1252 if is_western(examined.decode("cp1252", "replace")) else None
    file.seek(0)
    return kind


class Upload(NamedTuple):
    """An uploaded file, for the API."""

    file: IO[bytes]
    length: int
    """Bytes."""
    content_type: str


def uploaded(form: Form) -> Upload | None:
    """The file of a form; None, with an error in the form, if there is none, or a person has to name its charset."""
    file = request.files.get("file")
    if file is None or not file.filename:
        form.errors["file"] = gettext("Choose a file.")
        return None
    kind = content_type_of(file.stream, form["charset"])
    if kind is None:
        form.errors["charset"] = str(CHOOSE_CHARSET)
        return None
    length = file.stream.seek(0, SEEK_END)
    file.stream.seek(0)
    return Upload(file.stream, length, kind)


def tell_encoding(upload: Upload) -> None:
    """Say that a file was read as Windows-1252, if it was."""
    if upload.content_type == WINDOWS_1252:
        text = gettext("The file is not UTF-8, so it is read as Windows-1252. Check the accented letters.")
        flash(text, "warn")
