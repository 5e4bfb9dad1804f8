"""What the words of messages mean, and of what went wrong with them."""

from typing import Final

from api.words.core import PHONE, STATUSES, Word
from shared.message_codes import error_of
from shared.message_errors import CATALOGUE

CODES = [*CATALOGUE]
EXAMPLE = error_of("undelivered", "absent_subscriber=UNDELIV:027", "acme-telecom")
DETAIL: dict[str, Word] = {
    "phone": ("Digits only, beginning with the country code; null: it was erased.", PHONE),
    "status": ("Where it is.", "undelivered", {"enum": STATUSES}),
    "segments": ("Segments of this message.", 1),
    "cost": ("Credits; 0 where they were given back.", 1),
    "carrier": ("The carrier that took it, or was the last to refuse it; null: none was asked.", "acme-telecom"),
    "country": ("Two letters of ISO 3166-1, by the phone's first digits; null: none, or the phone was erased.", "KE"),
    "error": ("Why it did not arrive, or is in doubt; null: nothing is wrong.", EXAMPLE),
    "parts": ("The text as it is cut, one entry a segment.", ["Your table is ready."]),
    "encoding": ("gsm7 where every character fits, else ucs2.", "gsm7", {"enum": ["gsm7", "ucs2"]}),
    "text": ("The text as it is sent to this phone, with its values; null: it was erased.", "Your table is ready."),
}
"""Of a message, and of one that is shown alone."""
OF_ONE = ("parts", "encoding", "text")

WORDS: Final[dict[str, Word]] = {
    **{f"MessageDetail.{name}": word for name, word in DETAIL.items()},
    **{f"Message.{name}": word for name, word in DETAIL.items() if name not in OF_ONE},
    "Event.error": ("What went wrong; null: nothing.", None),
    "MessageError.code": (
        "What went wrong, one of the codes of `GET /errors?kind=message`.",
        "absent_subscriber",
        {"enum": CODES},
    ),
    "permanent": ("Whether the same message would fail again; null of errors of requests.", False),
    "MessageError.permanent": ("Whether the same message to this phone would fail again.", False),
    "MessageError.carrier": ("The carrier at which it happened; null: no carrier had a part in it.", "acme-telecom"),
    "carrier_code": ("The carrier's own code, as it was told; null: it told none.", "UNDELIV:027"),
    "MessageError.text": ("What the code means, for people.", CATALOGUE["absent_subscriber"].meaning),
    "meaning": ("What it means, for people; null of errors of requests.", None),
    "ErrorEntry.kind": ("Whether requests or messages have this error.", "request", {"enum": ["request", "message"]}),
    "ErrorQuery.kind": ("Of what the errors are listed: `request` or `message`.", "message"),
    "HistoryPaging.error": ("Only messages with this error.", "absent_subscriber", {"enum": CODES}),
    "HistoryPaging.permanent": ("Only messages with a permanent error, or with one that is not.", "true"),
    "HistoryPaging.carrier": ("Only messages of this carrier.", "acme-telecom"),
    "HistoryPaging.country": ("Only messages to this country: two letters of ISO 3166-1.", "KE"),
    "HistoryPaging.reference": ("Only messages of sends with this reference.", "order A-1042"),
    "HistoryPaging.group_id": ("Only messages of sends to this group.", None),
}
