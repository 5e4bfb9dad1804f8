"""Takes a CSV file into the database, piece by piece: the memory is that of a piece, whatever the file's size."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from flask import request
from sqlalchemy import Engine
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from api.problems import Problem, invalid
from shared.imports import keep_piece
from shared.text_pieces import LineTooLong, NotText, pieces_of_text

MOST_UPLOAD = 100 * 1024 * 1024
"""Bytes: five million contacts with a field or two."""
BLOCK = 64 * 1024
TYPES = ("text/csv", "application/csv", "text/plain")


class Uploaded(NamedTuple):
    """A file that is in the database: its pieces, its bytes as UTF-8, and its SHA-256."""

    pieces: int
    size: int
    digest: str


def take_upload(engine: Engine, import_id: UUID) -> Uploaded:
    """Keep the request's body as the pieces of an import.

    Raises Problem: unsupported_media_type, payload_too_large, or validation_failed for what is no text in lines.
    """
    sha = hashlib.sha256()
    pieces = size = 0
    try:
        for piece in pieces_of_text(_blocks(sha)):
            keep_piece(engine, import_id, pieces, piece)
            pieces += 1
            size += len(piece.encode())
    except NotText:
        raise _not_csv("This is the file of a program, not CSV: save it as CSV.", 415) from None
    except LineTooLong:
        raise _not_csv("A line of the file has no end: this is no CSV.") from None
    if not pieces:
        raise _not_csv("The file is empty.")
    return Uploaded(pieces, size, sha.hexdigest())


def check_media_type() -> None:
    """Raises Problem unless the body is said to be CSV."""
    if request.mimetype not in TYPES:
        given = f"`{request.mimetype}`" if request.mimetype else "no Content-Type"
        raise Problem("unsupported_media_type", f"The body came with {given}; only text/csv is read.")
    announced = request.content_length
    if announced is not None and announced > MOST_UPLOAD:
        raise _too_large()


def _blocks(sha: "hashlib._Hash") -> Iterator[bytes]:
    request.max_content_length = MOST_UPLOAD + 1
    read = 0
    try:
        while block := request.stream.read(BLOCK):
            read += len(block)
            if read > MOST_UPLOAD:
                raise _too_large()
            sha.update(block)
            yield block
    except RequestEntityTooLarge:
        raise _too_large() from None
    except ClientDisconnected:
        raise _not_csv("The body ended before its Content-Length.") from None
    if request.content_length is not None and read < request.content_length:
        raise _not_csv("The body ended before its Content-Length.")


def _too_large() -> Problem:
    return Problem(
        "payload_too_large", f"The file is larger than {MOST_UPLOAD:,} bytes.", headers={"Connection": "close"}
    )


def _not_csv(detail: str, status: int = 400) -> Problem:
    if status == 415:
        return Problem("unsupported_media_type", detail)
    return invalid([{"pointer": "", "code": "invalid", "detail": detail}])
