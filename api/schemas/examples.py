"""Example values shared by several fields, so that the examples in the OpenAPI document are consistent."""

from typing import Any, Final

from shared.lifecycle import MessageStatus

SEND_ID, GROUP_ID = "019cad1e-3f78-7c3e-9b5f-2e61d08fa4b7", "019a8e51-3b7a-7f02-8c4d-5a9be7713c06"
BATCH_ID, MESSAGE_ID = "019cad1e-3f79-7a08-b3c6-91f24de50000", "019cad1e-3f79-7a08-b3c6-91f24de50001"
IMPORT_ID, ERASURE_ID = "019cad30-51b2-7d44-a1c7-0f6e2b9d8c35", "019cad1e-3f78-7c3e-9b5f-2e61d08fa4c2"
EXPORT_ID = "019cad30-51d4-7f02-9c1e-2a7b4d6e8f10"
VERIFICATION_ID = "019cad1e-3f78-7b10-8d4e-5a6c7b8e9f01"
SMPP_ID = "019cad30-51e1-7c25-9b47-6d3a8f0e2b19"
WEBHOOK_ID, EVENT_ID = "019cad30-51c2-7b64-a1f0-3d8e5b7a9c42", "019cad1e-4e3c-7d21-9c55-6f0a1b2c0003"
INBOUND_ID, SENDER_UUID = "019cad21-77a1-7d0e-8f3a-6b2f0c9e4d17", "019cad1e-4b20-7d11-8f3e-5c1b6a9d2e70"
API_KEY = "smsk_live_4f1cQ9zK27Lb"
TOKEN = "eyJhIjoxLCJrIjoiYWtfNGYxYyJ9.aZ8x1A.Qm9nR2s"
PHONE, OTHER_PHONE = "254711000000", "254711000001"
WEBHOOK_URL = "https://hooks.example/sms-events"
ACCEPTED_AT, SENT_AT, DELIVERED_AT = "2026-03-02T09:00:00.120Z", "2026-03-02T09:00:00.480Z", "2026-03-02T09:00:03.900Z"
EXPIRES_AT = "2026-03-05T09:00:00.120Z"

IMPORT_NOTE: Final[dict[str, Any]] = {"code": "several_phones", "rows": 12, "line": 3}
NOT_A_PHONE = "The phone number starts with 0; start with the country code."
NOT_A_PHONE_IN_KENYA = "This is neither a local number of KE nor an international number."
"""In lists of contacts, which may have local numbers."""
REJECTED_PHONE: Final[dict[str, Any]] = {
    "index": 3,
    "phone": "0712",
    "code": "invalid_phone",
    "detail": NOT_A_PHONE,
}
SEND_COUNTS: Final[dict[str, int]] = (
    {"submitted": 5, "accepted": 3, "duplicate": 1, "invalid": 1, "suppressed": 0, "removed": 0}
    | {str(status): 0 for status in MessageStatus}
    | {"sent": 1, "delivered": 2}
)
MESSAGE_EVENT: Final[dict[str, Any]] = {
    "message_id": MESSAGE_ID,
    "send_id": SEND_ID,
    "status": "delivered",
    "sequence": 10,
    "error": None,
    "error_details": None,
    "sender_id": "ACME",
    "reference": "order A-1042",
    "metadata": {"order": "A-1042"},
    "test": False,
    "phone": PHONE,
}
"""The data of a message's event."""
