"""The Python client verifies webhooks, and refuses those that are forged."""

import base64
import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from bulksms_client import InvalidSignature, verify_webhook
from bulksms_client.webhooks import TOLERANCE
from standardwebhooks import Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signed(body: str, at: float) -> dict[str, str]:
    """Headers as the reference library of Standard Webhooks makes them."""
    signature = Webhook(SECRET).sign("msg_1", datetime.fromtimestamp(at, UTC), body)
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at)), "Webhook-Signature": f"v1,AAAA {signature}"}


NOW = 1_800_000_000.0
BODY = '{"type":"message.delivered","data":{"phone":"254711000000"}}'


def test_a_webhook_is_verified_as_the_reference_library_signs_it() -> None:
    event = verify_webhook(SECRET, signed(BODY, NOW), BODY.encode(), now=NOW)
    assert event["data"] == {"phone": "254711000000"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda headers, body: (headers, body.replace("254711000000", "254711000001")),
        lambda headers, body: ({**headers, "Webhook-Id": "msg_2"}, body),
        lambda headers, body: ({**headers, "Webhook-Timestamp": str(int(NOW) + 1)}, body),
        lambda headers, body: ({**headers, "Webhook-Signature": "v1,AAAA"}, body),
        lambda headers, body: ({**headers, "Webhook-Signature": "v1,\udcff"}, body),
        lambda headers, body: ({**headers, "Webhook-Id": "\udcff"}, body),
        lambda headers, body: (headers, body + "\udcff"),
        lambda headers, body: ({name: value for name, value in headers.items() if name != "Webhook-Id"}, body),
        lambda headers, body: (signed(body, NOW - TOLERANCE - 1), body),
        lambda headers, body: (signed(body, NOW + TOLERANCE + 1), body),
        lambda headers, body: ({**headers, "Webhook-Timestamp": "9" * 400}, body),
        lambda headers, body: ({**headers, "Webhook-Timestamp": "-" + "9" * 400}, body),
    ],
)
def test_a_forged_webhook_is_refused(spoil: Callable[..., Any]) -> None:
    headers, body = spoil(signed(BODY, NOW), BODY)
    with pytest.raises(InvalidSignature):
        verify_webhook(SECRET, headers, body, now=NOW)


@pytest.mark.parametrize("secret", ["", "whsec_"])
def test_no_webhook_is_verified_without_a_secret(secret: str) -> None:
    """Its signature could be made by everybody."""
    digest = hmac.digest(b"", f"msg_1.{NOW:.0f}.{BODY}".encode(), "sha256")
    headers = {**signed(BODY, NOW), "Webhook-Signature": "v1," + base64.b64encode(digest).decode()}
    with pytest.raises(InvalidSignature, match="secret"):
        verify_webhook(secret, headers, BODY, now=NOW)
