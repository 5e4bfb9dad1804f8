"""Values that a form carries through the browser, encrypted and valid for a limited time."""

import base64
import hashlib
import json
import time
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from flask import current_app

SECONDS = 300


def seal(purpose: str, values: dict[str, Any]) -> str:
    """Text that only this console can read, and only for this purpose."""
    return _fernet(purpose).encrypt(json.dumps(values).encode()).decode()


def unseal(purpose: str, text: str, seconds: int | None = None) -> dict[str, Any] | None:
    """What was sealed; None if it is older than `seconds`, by default five minutes, or not ours."""
    try:
        opened: dict[str, Any] = json.loads(_fernet(purpose).decrypt(text.encode()))
        age = time.time() - _fernet(purpose).extract_timestamp(text.encode())
    except (InvalidToken, ValueError):
        return None
    return opened if age <= (SECONDS if seconds is None else seconds) else None  # the host that sealed it may be ahead


def _fernet(purpose: str) -> Fernet:
    key = hashlib.sha256(f"console form {purpose} {current_app.config['SECRET_KEY']}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
