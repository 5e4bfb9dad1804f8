"""Values that a form carries through the browser, encrypted and valid for a limited time."""

import base64
import hashlib
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from flask import current_app


def seal(purpose: str, values: dict[str, Any]) -> str:
    """Text that only this console can read, and only for this purpose."""
    return _fernet(purpose).encrypt(json.dumps(values).encode()).decode()


def unseal(purpose: str, text: str, seconds: int) -> dict[str, Any] | None:
    """What was sealed; None if it is older than `seconds`, or not ours."""
    try:
        opened: dict[str, Any] = json.loads(_fernet(purpose).decrypt(text, ttl=seconds))
    except (InvalidToken, ValueError):
        return None
    return opened


def _fernet(purpose: str) -> Fernet:
    key = hashlib.sha256(f"console form {purpose} {current_app.config['SECRET_KEY']}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
