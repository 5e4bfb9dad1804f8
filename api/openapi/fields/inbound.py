"""What the words of messages from phones mean."""

from typing import Final

from api.openapi.fields.core import PHONE, Word
from shared.inbound import Keyword

WORDS: Final[dict[str, Word]] = {
    "Inbound.carrier": ("The carrier that it came from.", "main"),
    "inbound_id": ("The message from a phone.", "019cad21-77a1-7d0e-8f3a-6b2f0c9e4d17"),
    "keyword": (
        "What a message that is nothing but such a word asks for: `stop` to be written to no more, `start` the"
        " opposite. Null for every other message.",
        "stop",
        {"enum": [*map(str, Keyword), None]},
    ),
    "InboundPaging.keyword": ("Only messages that ask for this.", "stop"),
    "Inbound.message": ("The text.", "STOP"),
    "missing_segments": ("Segments of it that never came; its text is then what did.", 0),
    "Inbound.phone": ("Who sent it.", PHONE),
    "InboundPaging.phone": ("Only messages from this phone.", PHONE),
    "received_at": ("When it came.", "2026-03-02T09:05:12.040Z"),
    "Inbound.segments": ("Segments that it came in.", 1),
    "Inbound.sender_id": ("The number of yours that it was sent to.", "254204000000"),
    "InboundPaging.sender_id": ("Only messages to this number of yours.", "254204000000"),
    "InboundPaging.since": ("Received at this time or later.", "2026-03-01T00:00:00Z"),
    "InboundPaging.until": ("Received before this time.", "2026-03-03T00:00:00Z"),
}
