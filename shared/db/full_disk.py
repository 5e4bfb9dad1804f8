"""Detects a full disk, which otherwise looks like an unavailable database."""

import shutil
from pathlib import Path

from sqlalchemy.exc import DBAPIError

MIN_FREE_BYTES = 64 << 20
"""Free bytes below which Postgres may be unable to write its log and stops."""
DISK_FULL = "53100"
"""SQLSTATE disk_full."""


def is_disk_full(error: BaseException) -> bool:
    """Whether the database could not store something because its disk is full."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) == DISK_FULL or "No space left on device" in str(cause)


def shortage(path: Path) -> str | None:
    """A sentence about the disk of this path if it is nearly full, or None."""
    free = shutil.disk_usage(path).free
    if free >= MIN_FREE_BYTES:
        return None
    return f"The disk is full: {free >> 20} MiB are left at {path.absolute()}. Make room."
