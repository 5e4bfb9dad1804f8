"""Words of sender IDs, and of who holds a send."""

from typing import Final

from api.openapi.fields.core import Word
from api.resources.sender_ids.schemas import STATUSES

SENDER = "019cad1e-4b20-7d11-8f3e-5c1b6a9d2e70"
HOLDERS = ["operator", "crashes", "sender_id", "canary", "stop_if"]

WORDS: Final[dict[str, Word]] = {
    "decided_at": ("When the operator decided.", None),
    "deleted": ("It is gone.", True),
    "form": (
        "Letters, a short code, or a phone's number.",
        "alphanumeric",
        {"enum": ["alphanumeric", "short_code", "number"]},
    ),
    "held_by": (
        "What holds it: `operator`, `crashes` (of workers that sent or prepared it: the operator looks), `sender_id`"
        " (suspended),"
        " `canary` or `stop_if`. The last two go on by `resume`.",
        None,
        {"enum": [*HOLDERS, None]},
    ),
    "held_reason": ("Why the send is held.", None),
    "Sender.created_at": ("When it was asked for.", "2026-01-12T08:15:30.000Z"),
    "Sender.id": ("Its id.", SENDER),
    "Sender.reason": ("Why it was rejected or suspended.", None),
    "Sender.status": ("Only an `approved` one may be sent from.", "pending", {"enum": [*STATUSES]}),
    "SenderPaging.status": ("Only sender IDs with this status.", "approved"),
    "sender": ("The sender ID's `id`.", SENDER),
    "use_case": ("What it is for: the operator reads it.", "Order confirmations of our shop"),
}
