"""Takes a CSV file into the database, piece by piece: the memory is that of a piece, whatever the file's size."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine

from api.http.uploaded_file import UploadedFile, check_media_type, chunks_of_file, not_csv, open_file
from shared.contacts.imports import keep_piece

MAX_UPLOAD_BYTES = 100 * 1024 * 1024
"""Bytes: five million contacts with a field or two."""
TYPES = ("text/csv", "application/csv", "text/plain")


def check_upload() -> None:
    """Raises Problem unless the body is said to be CSV, or a form with a file of it, and not too large."""
    check_media_type(TYPES, MAX_UPLOAD_BYTES)


class Uploaded(NamedTuple):
    """A file that is in the database: its pieces, its bytes as UTF-8, and its SHA-256."""

    chunks: int
    size: int
    digest: str


def take_upload(engine: Engine, import_id: UUID) -> Uploaded:
    """Keep the request's file as the pieces of an import.

    Raises Problem: unsupported_media_type, payload_too_large, or validation_failed for what is no text in lines.
    """
    sha = hashlib.sha256()
    file = open_file(MAX_UPLOAD_BYTES)
    chunks = size = 0
    for chunk in chunks_of_file(UploadedFile(_hashed(file.blocks, sha), file.encoding)):
        keep_piece(engine, import_id, chunks, chunk)
        chunks += 1
        size += len(chunk.encode())
    if not chunks:
        raise not_csv("The file is empty.")
    return Uploaded(chunks, size, sha.hexdigest())


def _hashed(blocks: Iterator[bytes], sha: "hashlib._Hash") -> Iterator[bytes]:
    for block in blocks:
        sha.update(block)
        yield block
