"""Verifies webhooks, by Standard Webhooks 1.0."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from bulksms_client.errors import InvalidSignature

TOLERANCE = 300.0
"""Seconds by which the clocks may differ, and for which a captured request could be repeated."""


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes | str, *, now: float | None = None) -> Any:
    """The event of a webhook that was signed with `secret` (`whsec_…`), over the body exactly as it came.

    Raises InvalidSignature. An event may come more than once: remember `webhook-id`.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, timestamp, signatures = (
            given[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
        )
        sent_at = int(timestamp)
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError, binascii.Error) as error:
        raise InvalidSignature(f"The headers or the secret of the webhook are not complete: {error}") from None
    if not key:
        raise InvalidSignature("The secret of the webhook is empty.")
    now = time.time() if now is None else now
    if not now - TOLERANCE <= sent_at <= now + TOLERANCE:
        raise InvalidSignature("The webhook was signed too long ago, or the clocks differ.")
    raw = _encoded(body) if isinstance(body, str) else body
    digest = hmac.new(key, _encoded(f"{identifier}.{timestamp}.") + raw, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, _encoded(signature)) for signature in signatures.split()):
        raise InvalidSignature("The webhook was not signed with this secret.")
    return json.loads(raw)


def _encoded(text: str) -> bytes:
    """UTF-8. Half a surrogate pair, as of a header that is not UTF-8, becomes bytes that nobody signs."""
    return text.encode("utf-8", "surrogatepass")
