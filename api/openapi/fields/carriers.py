"""What limits a send, and by which route a message went."""

from typing import Final

from api.openapi.fields.core import Word
from api.resources.sends.bottleneck import REASONS

LIMITED = (
    f"What it waits for at present, one of: {', '.join(f'`{reason}`' for reason in REASONS)}. `carrier_rate` is the "
    "usual one of a large send; `sender_rate`, `prefix_rate`: its sender ID, or the numbers that it goes to, may have "
    "no more a second; `queue_turn`: others are before it; `throttled`: the carrier asked for less; `retry`: it goes "
    "again in a moment. Null: nothing waits."
)

WORDS: Final[dict[str, Word]] = {
    "limited_by": (LIMITED, None),
    "backlog_limited_by": ("What the largest send of the backlog waits for: as `limited_by` of a send.", None),
    "backlog_eta": ("When the last message that is queued should be handed over; null where nobody knows.", None),
    "route": ("The route and why it led to that carrier; null where there is one carrier only.", None),
}
