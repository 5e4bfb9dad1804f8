"""Reports of sends that came by Kannel's API: the `dlr-url`, whose escapes are filled as Kannel 1.4.5 fills them."""

import re
from typing import Final
from urllib.parse import quote_plus

from shared.events.stream import Event
from shared.lifecycle import EventType

DELIVERED, UNDELIVERED, SENT, REJECTED = 1, 2, 8, 16
"""Bits of a dlr-mask, and the numbers for `%d`. 4 is for messages that wait at a carrier, which no carrier tells us."""
NEVER_SENT: Final = [EventType(f"message.{status}") for status in ("failed", "rejected", "expired", "canceled")]
OF_TYPE: Final = {
    EventType.MESSAGE_SENT: SENT,
    EventType.MESSAGE_DELIVERED: DELIVERED,
    EventType.MESSAGE_UNDELIVERED: UNDELIVERED,
    **dict.fromkeys(NEVER_SENT, REJECTED),
}
TEXTS: Final = {
    SENT: "ACK/",
    DELIVERED: "stat:DELIVRD err:000",
    UNDELIVERED: "stat:UNDELIV err:{}",
    REJECTED: "NACK/{}",
}
ESCAPE = re.compile(r"%([%dpPqQaAbiIFtTno])")


def is_wanted(event: Event) -> bool:
    """Whether the mask of the event's send asks for its status. Kannel reports what was never sent for bit 2, too
    (`bb_smscconn_send_failed`)."""
    bit = _bit_of(event)
    return bool((bit | UNDELIVERED if bit == REJECTED else bit) & ((event.send and event.send.dlr_mask) or 0))


def report_url(event: Event, url: str) -> str:
    """The URL to get for an event of a message. What its escapes stand for: docs/guides/from-kannel.md."""
    data, bit = event.data, _bit_of(event)
    text = TEXTS[bit].format((data["error_details"] or {}).get("code", ""))
    values = {
        "d": str(bit),
        **dict.fromkeys("pq", data["phone"]),
        **dict.fromkeys("PQ", data["sender_id"]),
        **dict.fromkeys("aAb", text),
        **dict.fromkeys("IF", data["message_id"]),
        "t": f"{event.at:%Y-%m-%d %H:%M:%S}",
        "T": str(int(event.at.timestamp())),
        "o": data["reference"],
    }
    return ESCAPE.sub(lambda match: "%" if match[1] == "%" else quote_plus(values.get(match[1]) or ""), url)


def _bit_of(event: Event) -> int:
    return OF_TYPE.get(EventType(event.type), 0)
