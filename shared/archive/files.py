"""The file of an archived week: gzipped CSV as Postgres writes it, with a manifest in JSON beside it.

The manifest names the columns, and has the number of messages and the SHA-256 of the file.
"""

import csv
import gzip
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from shared.accounts.refused import Refused
from shared.db.partitions import partition_of

CHUNK = 1 << 20
FORMAT = 1


class BadArchive(Refused):
    """A file is missing, damaged, or not the one that was written. The message says which and what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a file has. `week` is its Monday, `written_at` a time in RFC 3339."""

    week: str
    columns: tuple[str, ...]
    messages: int
    sha256: str
    written_at: str
    format: int = FORMAT


def data_path(folder: Path, week: date) -> Path:
    """Where the messages of a week are."""
    return folder / f"{partition_of(week)}.csv.gz"


def manifest_path(folder: Path, week: date) -> Path:
    """Where the manifest of a week is."""
    return folder / f"{partition_of(week)}.json"


def write(
    folder: Path,
    week: date,
    columns: tuple[str, ...],
    written_at: str,
    blocks: Iterator[bytes],
    on_chunk: Callable[[], None],
) -> Manifest:
    """Write the blocks of a CSV with a header, read the file back, and put it in place with its manifest.

    An older file of the week is replaced only when the new one is complete and on disk. Raises BadArchive.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = data_path(folder, week)
    partial = target.with_suffix(".partial")
    content = hashlib.sha256()
    with _durable(partial) as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
        for block in blocks:
            content.update(block)
            packed.write(block)
            on_chunk()
    if _content(partial) != content.hexdigest():
        raise BadArchive(f"{partial} does not read back as it was written. Check the disk.")
    manifest = Manifest(f"{week}", columns, _rows(partial, columns), _checksum(partial), written_at)
    partial.replace(target)
    described = manifest_path(folder, week).with_suffix(".partial.json")
    with _durable(described) as file:
        file.write(json.dumps(asdict(manifest), indent=2).encode())
    described.replace(manifest_path(folder, week))
    _sync(folder)
    return manifest


def verify(folder: Path, week: date, sha256: str) -> Manifest:
    """The manifest of a week's file, which is whole and has this checksum. Raises BadArchive."""
    path = data_path(folder, week)
    try:
        described = json.loads(manifest_path(folder, week).read_text())
        manifest = Manifest(**{**described, "columns": tuple(described["columns"])})
        checksum = _checksum(path)
    except FileNotFoundError as error:
        raise BadArchive(f"{error.filename} is not there. Fetch the files of the week into this folder.") from None
    except (ValueError, TypeError, KeyError):
        raise BadArchive(f"{manifest_path(folder, week)} is not a manifest.") from None
    if not checksum == manifest.sha256 == sha256:
        raise BadArchive(f"{path} is not what was written: its SHA-256 is {checksum}, not {sha256}.")
    if manifest.format != FORMAT or not all(each.isidentifier() for each in manifest.columns):
        raise BadArchive(f"{path} has a format that this release does not read.")
    return manifest


def blocks_of(folder: Path, week: date) -> Iterator[bytes]:
    """The CSV of a week's file, in blocks."""
    with gzip.open(data_path(folder, week)) as file:
        while block := file.read(CHUNK):
            yield block


@contextmanager
def _durable(path: Path) -> Iterator[io.BufferedWriter]:
    """A new file, readable for its owner only, that is on disk at the end of the block."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _content(path: Path) -> str:
    digest = hashlib.sha256()
    with gzip.open(path) as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _rows(path: Path, columns: tuple[str, ...]) -> int:
    with gzip.open(path, "rt", newline="") as file:
        rows = csv.reader(file)
        if tuple(next(rows)) != columns:
            raise BadArchive(f"{path} does not have the columns that it should have.")
        return sum(1 for _ in rows)
