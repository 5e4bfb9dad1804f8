"""Tells whether the bodies of two requests are the same."""

import hashlib
import json
from typing import Any


def fingerprint(body: dict[str, Any] | None) -> bytes:
    """The SHA-256 of a body, in whatever order its fields are."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).digest()
