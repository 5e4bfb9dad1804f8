"""Words of the opt-out list."""

from typing import Any, Final

from api.openapi.fields.core import NOT_A_PHONE, PHONE, Word
from shared.lifecycle import Category

CATEGORIES: dict[str, Any] = {"enum": [*map(str, Category), None]}
OF_CATEGORY = "Only of messages of this category; without it, of all."
OF_SENDER = "Only of messages from this sender ID; without it, from all."

WORDS: Final[dict[str, Word]] = {
    "RejectedSuppression.code": ("Why.", "invalid_phone", {"enum": ["invalid_phone", "invalid"]}),
    "RejectedSuppression.detail": ("Why, for people.", NOT_A_PHONE),
    "RejectedSuppression.index": ("The entry's place, from 0.", 3),
    "Suppressed.rejected": (
        "The entries that were not taken, 1,000 at most.",
        [{"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE}],
    ),
    "SuppressedCounts.added": ("New on the list.", 3),
    "SuppressedCounts.duplicate": ("Listed before in this request.", 0),
    "SuppressedCounts.invalid": ("Not taken: see `rejected`.", 1),
    "SuppressedCounts.submitted": ("Entries in the request.", 5),
    "SuppressedCounts.unchanged": ("On the list before.", 1),
    "Suppression.category": ("Has opted out of this category only; null: of all.", None, CATEGORIES),
    "Suppression.created_at": ("When it was put on the list.", "2026-02-20T17:04:11.000Z"),
    "Suppression.reason": ("Why: `stop` where the phone's owner wrote so.", "stop"),
    "Suppression.sender_id": ("Has opted out of messages from this sender ID only; null: from all.", None),
    "SuppressionPaging.category": ("Only opt-outs of this category.", "marketing"),
    "SuppressionPaging.phone": ("Only opt-outs of this phone.", PHONE),
    "SuppressionPaging.reason": ("Only opt-outs for this reason.", "stop"),
    "SuppressionPaging.sender_id": ("Only opt-outs from this sender ID.", "ACME"),
    "SuppressionsBody.category": (OF_CATEGORY, "marketing"),
    "SuppressionsBody.reason": ("Why: for your own records.", "asked by phone call"),
    "SuppressionsBody.phones": ("1 to 100,000 phones, as contacts are written.", [PHONE, "254711000001"]),
    "SuppressionsBody.sender_id": (OF_SENDER, "ACME"),
    "ScopeQuery.category": ("Only the opt-out of this category; without it and `sender_id`, every one.", "marketing"),
    "ScopeQuery.sender_id": ("Only the opt-out from this sender ID.", "ACME"),
    "Unsuppressed.removed": ("Opt-outs that were taken from the list.", 1),
}
