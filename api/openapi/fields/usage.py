"""What the words of usage mean."""

from typing import Final

from api.openapi.fields.core import Word
from api.resources.usage.schemas import RESULTS

WORDS: Final[dict[str, Word]] = {
    "day": ("The day on which the send was accepted, UTC; null where not counted by it.", "2026-03-02"),
    "country": ("Two letters of ISO 3166-1, by the phone's first digits.", "KE"),
    "Usage.country": (
        "Two letters of ISO 3166-1, by the phone's first digits. Null where it is not counted by it, for phones of no"
        " country, and for messages that ended with their send and were never handed over.",
        "KE",
    ),
    "Usage.sender_id": ("The sender ID; null where not counted by it.", "ACME"),
    "Usage.category": ("What they were for; null where not counted by it.", "transactional"),
    "Usage.status": (
        "What became of them; null where not counted by it.",
        "delivered",
        {"enum": [*map(str, RESULTS), None]},
    ),
    "Usage.messages": ("How many messages.", 3),
    "credits": ("Credits of those that a carrier took: `sent`, `delivered` and `undelivered`.", 3),
    "counted_at": (
        "When today's counts were made: some seconds ago, longer on a busy day. Older hours are counted again, more and"
        " more rarely, as long as their messages change. Null: nothing was counted yet.",
        "2026-03-02T09:00:10.000Z",
    ),
    "by": ("What to count by, with commas: any of day, sender_id, country, category and status.", "day,status"),
    "UsageQuery.since": ("The first day, UTC; unless given, 30 days ago.", "2026-03-01"),
    "UsageQuery.until": ("The last day, UTC; unless given, today.", "2026-03-31"),
    "UsageQuery.sender_id": ("Only of this sender ID.", "ACME"),
    "UsageQuery.category": ("Only of this category.", "transactional"),
    "UsageQuery.status": ("Only messages with this status.", "delivered"),
    "UsageQuery.limit": ("Entries on a page, 1 to 1,000.", 1000),
}
