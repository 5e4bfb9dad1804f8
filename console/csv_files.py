"""CSV files: streamed from the API to the browser."""

import re
from collections.abc import Iterator

from flask import Response


def download(pieces: Iterator[bytes], name: str) -> Response:
    """A file of the API, passed on piece by piece."""
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)
    response = Response(pieces, mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}"'
    return response
