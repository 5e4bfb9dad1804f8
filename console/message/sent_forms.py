"""What this browser has sent recently: a form that the back button brings back is known by its key and contents."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

from flask import session

SENT = "sent"
"""The cookie's entry: for each send, what `_known` returns. The salt is the form's key, which is not in the cookie: so
nobody can find out the phone number of a request by trying them all."""
MOST = 5


def remember_sent(key: str, body: Mapping[str, Any], send_id: str) -> None:
    """Remember that a form was sent."""
    session[SENT] = [[_digest(key), _digest([key, body]), send_id], *session.get(SENT, [])][:MOST]


def sent_with(key: str) -> str | None:
    """The id of the send with the key of a form; None if this browser does not know of one."""
    known = _known(key)
    return known[2] if known else None


def was_sent(key: str, body: Mapping[str, Any]) -> bool:
    """Whether a form was sent with exactly these contents."""
    known = _known(key)
    return known is not None and known[1] == _digest([key, body])


def key_for(key: str, body: Mapping[str, Any]) -> str:
    """The key of a form; if another message was sent with it, a new key for this message, always the same one."""
    if _known(key) is None or was_sent(key, body):
        return key
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key} {_digest([key, body])}"))


def _known(key: str) -> list[str] | None:
    """The digests of the form's key, and of the key with the request, and the id of the send."""
    sought = _digest(key)
    return next((entry for entry in session.get(SENT, []) if entry[0] == sought), None)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
