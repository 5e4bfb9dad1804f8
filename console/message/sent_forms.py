"""What this browser has sent lately: a form that the back button brings is known by its key and what is in it."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

from flask import session

SENT = "sent"
"""The entry of the cookie: for each send the digests of its form's key and of its request, and its id."""
MOST = 5


def remember_sent(key: str, body: Mapping[str, Any], send_id: str) -> None:
    """Remember that a form was sent."""
    session[SENT] = [[_digest(key), _digest(body), send_id], *session.get(SENT, [])][:MOST]


def sent_with(key: str) -> str | None:
    """The id of the send with the key of a form; None if this browser does not know of one."""
    return next((send_id for known, _, send_id in session.get(SENT, []) if known == _digest(key)), None)


def was_sent(key: str, body: Mapping[str, Any]) -> bool:
    """Whether a form was sent as it is."""
    return any(entry[:2] == [_digest(key), _digest(body)] for entry in session.get(SENT, []))


def key_for(key: str, body: Mapping[str, Any]) -> str:
    """The key of a form; if another message was sent with it, a key of its own for this one, each time the same."""
    if sent_with(key) is None or was_sent(key, body):
        return key
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key} {_digest(body)}"))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
