"""A form's secrets on their way through the browser, encrypted and for a few minutes."""

import base64
import hashlib
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from flask import current_app

SECONDS = 300


def seal(values: dict[str, Any]) -> str:
    """Text that only this console can read, for five minutes."""
    return _fernet().encrypt(json.dumps(values).encode()).decode()


def unseal(text: str) -> dict[str, Any] | None:
    """What was sealed; None if it is too old or not ours."""
    try:
        opened: dict[str, Any] = json.loads(_fernet().decrypt(text.encode(), ttl=SECONDS))
    except (InvalidToken, ValueError):
        return None
    return opened


def _fernet() -> Fernet:
    key = hashlib.sha256(b"console form" + str(current_app.config["SECRET_KEY"]).encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
