"""What the words of privacy mean."""

from typing import Final

from api.openapi.fields.core import Word

WORDS: Final[dict[str, Word]] = {
    "erasure_id": ("The erasure: keep it as the receipt.", "019cad1e-3f78-7c3e-9b5f-2e61d08fa4c2"),
    "Erasure.status": (
        "`pending` until nothing has the phone any more. What is on its way is waited for, and what waits to be sent"
        " is not sent. `failed`: the service could not do it, and its operator has been told.",
        "completed",
        {"enum": ["pending", "completed", "failed"]},
    ),
    "Erasure.counts": ("What was erased so far.", {"messages": 3, "texts": 1, "contacts": 2, "inbound": 0}),
    "Erasure.created_at": ("When it was asked for.", "2026-03-02T09:00:00.120Z"),
    "Erasure.completed_at": ("When the last of it was erased.", "2026-03-02T09:00:40.010Z"),
    "ErasureCounts.messages": ("Messages whose phone was erased; their status and cost stay.", 3),
    "ErasureCounts.texts": ("Texts of messages that were to this phone alone.", 1),
    "ErasureCounts.contacts": ("Contacts, in all groups.", 2),
    "ErasureCounts.inbound": ("Messages that were received from the phone.", 0),
}
