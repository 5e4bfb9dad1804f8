"""Store an uploaded CSV file in the database chunk by chunk, so that memory does not grow with the file."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine

from api.http.uploaded_file import (
    CSV_TYPES,
    UploadedFile,
    check_media_type,
    chunks_of_file,
    not_csv,
    open_file,
    wrong_columns,
)
from shared.contacts.columns import NoContacts, read_columns
from shared.contacts.csv import Checkpoint
from shared.contacts.imports import keep_chunk
from shared.contacts.rows import SAMPLE_CHARACTERS
from shared.sms.numbering import Numbering

MAX_UPLOAD_BYTES = 100 * 1024 * 1024
"""Enough for five million contacts with a field or two."""


def check_upload() -> None:
    """Raise Problem unless the body is declared as CSV or a form, and within the size limit."""
    check_media_type(CSV_TYPES, MAX_UPLOAD_BYTES)


class Uploaded(NamedTuple):
    """A stored file: its number of chunks, its size in UTF-8 bytes, its SHA-256 digest, and where to begin with it."""

    chunks: int
    size: int
    digest: str
    checkpoint: Checkpoint


class AskedColumns(NamedTuple):
    """The columns that the request names, None if it does not: that of the phones, and those of fields."""

    phone: str | None
    fields: list[str] | None


def take_upload(engine: Engine, import_id: UUID, numbering: Numbering, asked: AskedColumns) -> Uploaded:
    """Store the request's file as the chunks of an import.

    Raises Problem: unsupported_media_type, payload_too_large, or validation_failed if the file is not lines of text, or
    its columns are not certain.
    """
    sha = hashlib.sha256()
    file = open_file(MAX_UPLOAD_BYTES)
    checkpoint, head = Checkpoint(), ""
    chunks = size = 0
    for chunk in chunks_of_file(UploadedFile(hashed(file.blocks, sha), file.encoding)):
        keep_chunk(engine, import_id, chunks, chunk)
        if checkpoint.delimiter is None and len(head) < SAMPLE_CHARACTERS:
            head += chunk
            if len(head) >= SAMPLE_CHARACTERS:
                _begin(checkpoint, head, numbering, asked, is_whole=False)
        chunks += 1
        size += len(chunk.encode())
    if not chunks:
        raise not_csv("The file is empty.")
    if checkpoint.delimiter is None:
        _begin(checkpoint, head, numbering, asked, is_whole=len(head) < SAMPLE_CHARACTERS)
    return Uploaded(chunks, size, sha.hexdigest(), checkpoint)


def _begin(checkpoint: Checkpoint, head: str, numbering: Numbering, asked: AskedColumns, *, is_whole: bool) -> None:
    """Find the columns by the beginning of the file. Raises Problem."""
    found = read_columns(head, numbering, is_whole=is_whole)
    if found is None:
        return
    try:
        checkpoint.begin(found, asked.phone, asked.fields)
    except NoContacts as problem:
        raise wrong_columns(problem) from None


def hashed(blocks: Iterator[bytes], sha: "hashlib._Hash") -> Iterator[bytes]:
    """The blocks, each also added to the digest."""
    for block in blocks:
        sha.update(block)
        yield block
