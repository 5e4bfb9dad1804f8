"""Sends SMS through a Bulk SMS service, once each, and tracks them.

    Client(url, api_key, api_secret).send("ACME", "254711000000", "Hello")

Errors:

    BulkSmsError
    ├── ApiError            the service refused: `status`, `code`, `detail`, `problem`
    │   └── LowBalance      402: `required` and `balance`
    ├── Unreachable         no response after all tries, or a file broke off; the request may have taken effect, once
    ├── StillOpen           `wait` timed out before the message or send was finished
    └── InvalidSignature    a webhook that is not from the service
"""

from bulksms_client.client import Client
from bulksms_client.errors import ApiError, BulkSmsError, InvalidSignature, LowBalance, StillOpen, Unreachable
from bulksms_client.models import Balance, Message, Send, SentMany, SentOne
from bulksms_client.webhooks import verify_webhook

__all__ = [
    "ApiError",
    "Balance",
    "BulkSmsError",
    "Client",
    "InvalidSignature",
    "LowBalance",
    "Message",
    "Send",
    "SentMany",
    "SentOne",
    "StillOpen",
    "Unreachable",
    "verify_webhook",
]
