"""Words of the rules that a send brings along."""

from typing import Any, Final

from api.words.core import EXPIRES_AT, Word

STOP_IF: dict[str, Any] = {"failed_share": 0.2, "over": 100}

WORDS: Final[dict[str, Word]] = {
    "canary": (
        "So many messages go first, or this share of them; then the send is held until their receipts are good: as many"
        " delivered as `stop_if` asks for, without it 90 %. It goes on by itself then, or by `resume`.",
        "1%",
    ),
    "Send.canary": ("How many messages go first; null: there is no canary, or it is over.", None),
    "failed_share": ("Hold it when more than this share has failed, of those that a carrier answered for.", 0.2),
    "over": ("Not before so many messages were answered for.", 100),
    "stop_if": (
        "Hold the send when too many of its messages fail: refused by the carrier, or reported as undelivered. It goes"
        " on by `resume`.",
        STOP_IF,
    ),
    "Send.stop_if": ("When the send is to be held because messages fail; null: never, or not any more.", None),
    "SendChanges.send_at": ("When it is due: at most 90 days ahead. Null, or in the past: now.", None),
    "SendChanges.expires_at": ("When it is given up.", EXPIRES_AT),
    "SendChanges.rate": ("Segments per second, at most; null: as fast as the route goes.", 50),
}
