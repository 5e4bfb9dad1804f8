"""What the words of webhooks and events mean."""

from typing import Final

from api.openapi.fields.core import DELIVERED_AT, MESSAGE_ID, PHONE, SEND_ID, Word
from api.resources.webhooks.schemas import DELIVERY_STATUSES, STATUSES, TYPES
from shared.outbox import KEPT_DAYS

WEBHOOK_ID, EVENT_ID = "019cad30-51c2-7b64-a1f0-3d8e5b7a9c42", "019cad1e-4e3c-7d21-9c55-6f0a1b2c0003"
URL, SECRET = "https://hooks.example/sms-events", "whsec_c2VjcmV0LW9mLXRoaXMtZXhhbXBsZS0zMi1ieXRlcyE="
MESSAGE_EVENT = {
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

WORDS: Final[dict[str, Word]] = {
    "after": (
        f"The last event that you have handled; without it, from the oldest that is kept: events are kept {KEPT_DAYS}"
        " days.",
        EVENT_ID,
    ),
    "callback_url": ("Where the events of this send are posted, besides your webhooks.", URL),
    "Webhook.created_at": ("When it was made.", "2026-02-20T10:00:00.000Z"),
    "Secret.created_at": ("When it was made.", "2026-02-20T10:00:00.000Z"),
    "Delivery.created_at": ("When it was tried first.", DELIVERED_AT),
    "StreamEvent.data": ("What happened to what.", MESSAGE_EVENT),
    "deleted": ("It is no more.", True),
    "description": ("Yours, to know it by.", "Production"),
    "disabled_reason": ("Why nothing is posted to it; null while it is active.", None),
    "Delivery.error": ("Why the last attempt failed.", None),
    "event_id": ("The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream.", EVENT_ID),
    "events": ("The types of events that are posted; null: all.", ["message.delivered", "message.undelivered"]),
    "failing_since": ("Since then no post has succeeded; null: the last one did.", None),
    "http_status": ("What the last attempt was answered; null: nothing.", 200),
    "milliseconds": ("How long the last attempt took.", 48),
    "next_attempt_at": ("When it is tried again; of pending ones.", None),
    "previous_secret_until": ("Until then posts are signed with the secret before, too; null: they are not.", None),
    "secret": ("Signs what is posted. Shown this once.", SECRET),
    "secret_version": ("Rises by one with each rotation of the secret.", 1),
    "RecoverBody.since": (f"At most {KEPT_DAYS} days ago.", "2026-03-01T00:00:00Z"),
    "Recover.since": ("From then on.", "2026-03-01T00:00:00.000Z"),
    "Webhook.status": ("Whether events are posted to it.", "active", {"enum": [*STATUSES]}),
    "Secret.status": ("Whether events are posted to it.", "active", {"enum": [*STATUSES]}),
    "WebhookChange.status": ("`active` posts from now on; POST …/recover brings what was missed.", "active"),
    "Delivery.status": (
        "`failed`: it was tried often enough.",
        "delivered",
        {"enum": [*DELIVERY_STATUSES]},
    ),
    "DeliveryPaging.status": ("Only deliveries with this status.", "failed"),
    "timestamp": ("When it happened.", DELIVERED_AT),
    "Delivery.type": ("What happened.", "message.delivered"),
    "StreamEvent.type": ("What happened.", "message.delivered"),
    "Test.type": ("Always `webhook.test`.", "webhook.test"),
    "types": ("Only events of these types, separated by commas.", ",".join(TYPES[:2])),
    "url": ("Where events are posted; null: to each send's `callback_url`.", URL),
    "Delivery.url": ("Where it was posted.", URL),
    "webhook_id": ("The webhook.", WEBHOOK_ID),
}
