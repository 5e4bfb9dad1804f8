"""CSV files: streamed from the API to the browser."""

import re
from collections.abc import Iterator
from os import SEEK_END
from typing import IO

from flask import Response


def download(pieces: Iterator[bytes], name: str) -> Response:
    """A file of the API, passed on piece by piece."""
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)
    response = Response(pieces, mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}"'
    return response


def length_of(file: IO[bytes]) -> int:
    """The size of a file in bytes; it is then at its beginning."""
    length = file.seek(0, SEEK_END)
    file.seek(0)
    return length
