"""What the words of messages mean, and of what went wrong with them."""

from typing import Final

from api.openapi.fields.core import ACCEPTED_AT, DELIVERED_AT, PHONE, SENT_AT, STATUSES, Word
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import error_of

CODES = [*CATALOGUE]
EXAMPLE = error_of("undelivered", "absent_subscriber=UNDELIV:027", "acme-telecom")
NO_ANSWER = {
    "since": "2026-03-02T09:00:10.480Z",
    "reason": "no_answer",
    "resolved_at": None,
    "resolved_by": None,
    "evidence": None,
}
RESOLVED_BY = ["answer", "receipt", "operator", "reconciliation", "validity"]
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
    "attempts": (
        "Each submit to a carrier, oldest first; what a carrier only put off is none.",
        [
            {
                "carrier": "acme-telecom",
                "route": None,
                "submitted_at": SENT_AT,
                "answered_at": "2026-03-02T09:00:00.505Z",
                "answer": "accepted",
                "carrier_code": None,
                "latency_ms": 25,
            }
        ],
    ),
    "timeline": (
        "What happened, oldest first.",
        [
            {"at": ACCEPTED_AT, "type": "accepted"},
            {"at": "2026-03-02T09:00:00.505Z", "type": "sent", "carrier": "acme-telecom", "attempts": 1},
            {
                "at": DELIVERED_AT,
                "type": "undelivered",
                "error": EXAMPLE,
                "carrier_at": "2026-03-02T09:00:00.000Z",
                "carrier_at_precision": "minute",
            },
        ],
    ),
    "doubt": ("Why it was in doubt, and what ended that; null: it was not.", NO_ANSWER),
}
"""Of a message, and of one that is shown alone."""
OF_ONE = ("parts", "encoding", "text", "attempts", "timeline", "doubt")

WORDS: Final[dict[str, Word]] = {
    **{f"MessageDetail.{name}": word for name, word in DETAIL.items()},
    **{f"Message.{name}": word for name, word in DETAIL.items() if name not in OF_ONE},
    "answered_at": ("When it was answered; null: no answer came.", "2026-03-02T09:00:00.505Z"),
    "answer": (
        "What it was answered: `rejected` is for good, `failed` for this time, `in_doubt` is no answer.",
        "accepted",
        {"enum": ["accepted", "rejected", "failed", "in_doubt"]},
    ),
    "Attempt.carrier": ("The carrier that was asked.", "acme-telecom"),
    "Attempt.submitted_at": ("When it was submitted.", SENT_AT),
    "latency_ms": ("Milliseconds from the submit to the answer; null: no answer came, or it is not known.", 25),
    "carrier_at": ("When it happened by the carrier's clock; null: it told no time. `at` is when we learned it.", None),
    "carrier_at_precision": (
        "To what the carrier's time is told: receipts of SMPP have minutes as a rule.",
        "minute",
        {"enum": ["minute", "second", "millisecond", None]},
    ),
    "Doubt.since": ("Since when no answer was waited for.", "2026-03-02T09:00:10.480Z"),
    "Doubt.reason": ("Why: a code of `GET /errors?kind=message`.", "no_answer"),
    "resolved_at": ("When it was resolved; null: it lasts.", None),
    "resolved_by": (
        "What ended the doubt: an answer after all, a receipt, the operator, a report of the carrier, or the end of its"
        " validity; null: nothing so far.",
        None,
        {"enum": [*RESOLVED_BY, None]},
    ),
    "evidence": ("What the carrier told: its id of the message, or its code; null: nothing.", None),
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
