"""Store an uploaded CSV file in the database chunk by chunk, so that memory does not grow with the file."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine

from api.http.uploaded_file import CSV_TYPES, UploadedFile, check_media_type, chunks_of_file, not_csv, open_file
from api.request_cost import add_bytes
from shared.contacts.imports import keep_chunk

MAX_UPLOAD_BYTES = 100 * 1024 * 1024
"""Enough for five million contacts with a field or two."""


def check_upload() -> None:
    """Raise Problem unless the body is declared as CSV or a form, and within the size limit."""
    check_media_type(CSV_TYPES, MAX_UPLOAD_BYTES)


class Uploaded(NamedTuple):
    """A stored file: its number of chunks, its size in UTF-8 bytes, and its SHA-256 digest."""

    chunks: int
    size: int
    digest: str


def take_upload(engine: Engine, import_id: UUID) -> Uploaded:
    """Store the request's file as the chunks of an import.

    Raises Problem: unsupported_media_type, payload_too_large, or validation_failed if the file is not lines of text.
    """
    sha = hashlib.sha256()
    file = open_file(MAX_UPLOAD_BYTES)
    chunks = size = 0
    for chunk in chunks_of_file(UploadedFile(_hashed(file.blocks, sha), file.encoding)):
        keep_chunk(engine, import_id, chunks, chunk)
        chunks += 1
        size += len(chunk.encode())
    add_bytes(size)
    if not chunks:
        raise not_csv("The file is empty.")
    return Uploaded(chunks, size, sha.hexdigest())


def _hashed(blocks: Iterator[bytes], sha: "hashlib._Hash") -> Iterator[bytes]:
    for block in blocks:
        sha.update(block)
        yield block
