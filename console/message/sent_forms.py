"""What this browser has sent lately: a form that the back button brings is known by its key and what is in it."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

from flask import session

SENT = "sent"
"""The entry of the cookie, for each send: see `_known`. The form's key, which is no part of the cookie, is the salt: so
nobody can find the phone number of a request by trying all."""
MOST = 5


def remember_sent(key: str, body: Mapping[str, Any], send_id: str) -> None:
    """Remember that a form was sent."""
    session[SENT] = [[_digest(key), _digest([key, body]), send_id], *session.get(SENT, [])][:MOST]


def sent_with(key: str) -> str | None:
    """The id of the send with the key of a form; None if this browser does not know of one."""
    known = _known(key)
    return known[2] if known else None


def was_sent(key: str, body: Mapping[str, Any]) -> bool:
    """Whether a form was sent as it is."""
    known = _known(key)
    return known is not None and known[1] == _digest([key, body])


def key_for(key: str, body: Mapping[str, Any]) -> str:
    """The key of a form; if another message was sent with it, a key of its own for this one, each time the same."""
    if _known(key) is None or was_sent(key, body):
        return key
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key} {_digest([key, body])}"))


def _known(key: str) -> list[str] | None:
    """The digests of the form's key, and of the key with the request, and the id of the send."""
    sought = _digest(key)
    return next((entry for entry in session.get(SENT, []) if entry[0] == sought), None)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
