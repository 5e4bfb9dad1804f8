"""The words of the limits that an operator sets."""

from typing import Final

from api.openapi.fields.core import Word

WORDS: Final[dict[str, Word]] = {
    "header_bytes": ("Bytes of a URL, and of one header.", 8192),
    "head_bytes": ("Bytes of a URL and all headers together.", 32_768),
    "json_keys": ("Keys of one JSON object.", 1000),
    "json_values": ("Values of a JSON body, nested ones too. A body of 64 kB may have 15,000.", 1_500_000),
    "json_depth": ("Levels of nesting of a JSON body.", 32),
    "requests_under_way": (
        "Requests of the account that each process of the API works on; one more is `rate_limited`. Before sign-in an"
        " address has fewer.",
        512,
    ),
    "large_bodies_under_way": ("Of these, those with a body above `body_bytes`; one more waits.", 8),
    "page_rows_examined": (
        "Rows that are examined for one page of a list with filters: it may be shorter than `limit` then.",
        10_000,
    ),
    "page_seconds": ("Seconds after which a statement of a list or report is ended; the answer is 503.", 5),
    "exports_under_way": ("CSV exports that each process writes at once; one more is `rate_limited`.", 4),
    "body_bytes_per_second": ("How quickly a large body arrives at least, after its first 20 seconds.", 8192),
    "revoked_tokens_per_key": ("Tokens of one API key that can be revoked in a day.", 1000),
    "Limits.groups": ("Groups that an account can have.", 10_000),
    "spending": ("What its sends may reserve in a day and a month of UTC.", None),
    "Spending.day": ("Credits that its sends may reserve on a day; null: as many as there are.", 1000),
    "Spending.month": ("Credits that its sends may reserve in a month; null: as many as there are.", None),
    "spent_of_day": ("Credits that its sends have reserved today; counted where there is a limit.", 900),
    "spent_of_month": ("Credits that its sends have reserved this month; counted where there is a limit.", 12_000),
    "destinations": ("What phones must begin with, one of these; null: anything.", ["254", "255"]),
    "added": ("Play credits that were added.", 250_000),
    "pumping_guard": (
        "What is done about one-time passwords to unusually many phones of one block or area.",
        "watch",
        {"enum": ["off", "watch", "block"]},
    ),
    "messages_per_phone_hour": ("Messages that a phone may get from the account within an hour, by category.", None),
    "RecipientLimits.authentication": ("Of one-time passwords and the like; null: any number.", 20),
    "RecipientLimits.transactional": ("Of this category; null: any number.", 100),
    "RecipientLimits.marketing": ("Of this category; null: any number.", 10),
    "Error.period": ("Of `spend_limit_reached`: which limit.", "day", {"enum": ["day", "month"]}),
    "Error.spend_limit": ("Of `spend_limit_reached`: credits that may be reserved in the period.", 1000),
    "Error.spent": ("Of `spend_limit_reached`: credits that were.", 900),
    "Error.resets_at": ("Of `spend_limit_reached`: when the period ends.", "2026-03-03T00:00:00.000Z"),
    "Error.rule": ("Of `traffic_refused`: what was unusual.", "block", {"enum": ["block", "burst"]}),
    "Error.prefix": ("Of `traffic_refused`: what the phones begin with.", "254711000"),
    "Error.phones": ("Of `traffic_refused`: how many there were in the window.", 11),
    "Error.most": ("Of `traffic_refused`: how many are usual.", 10),
    "Error.window_seconds": ("Of `traffic_refused`: how long the window is.", 600),
}
