"""Words of the rules that a send brings along."""

from typing import Any, Final

from api.openapi.fields.core import EXPIRES_AT, Word

QUIET: dict[str, Any] = {"from": "21:00", "until": "08:00"}
STOP_IF: dict[str, Any] = {"failed_share": 0.2, "over": 100}

WORDS: Final[dict[str, Word]] = {
    "canary": (
        "So many messages go first, or this share of them; then the send is held until their receipts are good: as many"
        " delivered as `stop_if` asks for, without it 90 %. It goes on by itself then, or by `resume`.",
        "1%",
    ),
    "Send.canary": ("How many messages go first; null: there is no canary, or it is over.", None),
    "Cap.most": ("At most so many messages of the category to a phone; what is more is `rejected`, not charged.", 3),
    "cap": ("How many messages of its category a phone gets, by the rule of the account; null: any number.", None),
    "from": ("When it begins, by the recipient's clock.", "21:00"),
    "hours": ("In so many hours.", 168),
    "quiet_hours": (
        "When nothing is sent, by the clock of the recipient, whose prefix tells the time zone: messages wait then."
        " Without it, what the account has for the category. Not for `authentication`.",
        QUIET,
    ),
    "Send.quiet_hours": ("When nothing of it is sent, by the clock of the recipient; null: at no time.", None),
    "QuietHoursRule.until": ("When it ends; may be on the next day.", "08:00"),
    "quote_expires_at": ("Until when the quote holds: 15 minutes.", "2026-03-02T09:15:00.120Z"),
    "quote_id": (
        "Of POST /sms/quote: with the same body the send costs no more than was quoted, or is refused.",
        "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38",
    ),
    "Quote.quote_id": ("Give it to the send.", "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38"),
    "quoted": ("Of `quote_changed`: credits that the quote said.", 2),
    "failed_share": ("Hold it when more than this share has failed, of those that a carrier answered for.", 0.2),
    "over": ("Not before so many messages were answered for.", 100),
    "stop_if": (
        "Hold the send when too many of its messages fail: refused by the carrier, or reported as undelivered. It goes"
        " on by `resume`.",
        STOP_IF,
    ),
    "Send.stop_if": ("When the send is to be held because messages fail; null: never, or not any more.", None),
    "SendChanges.send_at": (
        "When it is due: at most 90 days ahead. Null, or up to 60 seconds ago: now. An `expires_at` that was not "
        "chosen moves with it.",
        None,
    ),
    "SendChanges.expires_at": ("When it is given up.", EXPIRES_AT),
    "SendChanges.rate": ("Segments per second, at most; null: as fast as the route goes.", 50),
}
