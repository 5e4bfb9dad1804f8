"""Examples that do not follow from the fields' examples: of some bodies, of CSV, of errors and of headers."""

from typing import Any

from api.accept.schemas import MAX_PHONES
from api.schemas.examples import (
    ACCEPTED_AT,
    DELIVERED_AT,
    GROUP_ID,
    MESSAGE_ID,
    NOT_A_PHONE,
    NOT_A_PHONE_IN_KENYA,
    PHONE,
    SEND_COUNTS,
    SEND_ID,
    SENT_AT,
)
from shared.contacts.csv_lines import csv_line
from shared.messages.representation import CSV_HEADER
from shared.prices.margin import COLUMNS

CHANGED: dict[str, dict[str, Any]] = {
    "/sms/send-group": {
        "status": "expanding",
        "group_id": GROUP_ID,
        "counts": {"submitted": 1234, "accepted": 1234, "duplicate": 0, "invalid": 0, "suppressed": 0},
        "segments": {"per_message": 1, "encoding": "gsm7", "total": 1234},
        "cost": 1234,
        "balance": 8766,
        "rejected": [],
        "messages": [],
        "messages_truncated": True,
    }
} | {
    f"/sends/<uuid:send_id>/{action}": {
        "status": status,
        "counts": SEND_COUNTS | {"sent": 0, "delivered": 0, message_status: 3},
        "completed_at": completed_at,
    }
    for action, status, message_status, completed_at in (
        ("cancel", "canceled", "canceled", SENT_AT),
        ("pause", "paused", "queued", None),
        ("resume", "queued", "queued", None),
    )
}
"""By path: the fields in which an operation's example differs from that of its schema."""
CSV_OF_MESSAGES = csv_line(CSV_HEADER) + (
    f"{MESSAGE_ID},{PHONE},delivered,1,1,,{SENT_AT},{DELIVERED_AT},,acme-telecom,order A-1042,{SEND_ID},ACME,"
    f"transactional,KE,{ACCEPTED_AT}\n"
)
CSV = {
    ("GET", "/sends/<uuid:send_id>/messages"): CSV_OF_MESSAGES,
    ("GET", "/imports/<uuid:import_id>/errors"): (
        f"line,value,code,detail\n3,0712,invalid_phone,{NOT_A_PHONE_IN_KENYA}\n"
    ),
    ("GET", "/groups/<uuid:group_id>/contacts"): f"phone,city,name,tags\n{PHONE},Nairobi,Ann,vip;new\n",
    ("GET", "/suppressions"): f"phone,category,sender_id,reason,created_at\n{PHONE},,,stop,{SENT_AT}\n",
    ("GET", "/statements/<month>"): (
        "kind,month,sender_id,category,price,messages,segments,credits\nopening,,,,,,,1000\n"
        "capture,,ACME,transactional,2,410,820,-820\nclosing,,,,,,,180\n"
    ),
    ("GET", "/prices"): "prefix,country,category,price\n254,KE,,12\n",
    ("GET", "/price-versions/<int:version_id>/prices"): "prefix,country,category,price\n254,KE,,12\n",
    ("GET", "/usage"): "day,sender_id,country,category,status,messages,credits\n"
    "2026-03-02,ACME,KE,transactional,delivered,3,3\n",
    ("GET", "/margin"): f"{','.join(COLUMNS)}\n2026-03-02,17,acme,KE,main,3,30,24,6,0\n",
}
"""Example responses of the operations that support `Accept: text/csv`."""
FILES = {
    "/exports/<uuid:export_id>/file": {
        "text/csv": CSV_OF_MESSAGES,
        "application/x-ndjson": f'{{"message_id":"{MESSAGE_ID}","phone":"{PHONE}","status":"delivered"}}\n',
    },
}
"""Examples of files, by path and media type."""

CSV_BODIES = {
    "/price-lists/<int:list_id>/import": "prefix,category,price\n254,,12\nFR,authentication,40\n",
    "/doubts/reconcile": f"phone,status,time\n{PHONE},delivered,{SENT_AT}\n",
    "/suppressions/import": f"phone,category,reason\n{PHONE},marketing,opted out by phone call\n",
    "/groups/<uuid:group_id>/import": f"phone,name,city,tags\n{PHONE},Ann,Nairobi,vip;new\n0711000001,Bob,,\n",
}
"""Example bodies of the operations that accept CSV."""

PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "validation_failed": (
        f"/phone: {NOT_A_PHONE}",
        {"errors": [{"pointer": "/phone", "code": "invalid_phone", "detail": NOT_A_PHONE}], "errors_total": 1},
    ),
    "too_many_recipients": (
        "100,001 recipients were given; one request takes at most 100,000.",
        {"max": MAX_PHONES, "submitted": MAX_PHONES + 1},
    ),
    "no_valid_recipients": (
        "None of the recipients can be sent to.",
        {"rejected": [{"index": 0, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE}]},
    ),
    "no_valid_contacts": (
        "No entry is a valid contact.",
        {"rejected": [{"index": 0, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE_IN_KENYA}]},
    ),
    "too_many_segments": (
        "The message takes 3 segments; `max_segments` is 2.",
        {"segments": 3, "max_segments": 2},
    ),
    "quote_changed": ("This send needs 3 credits now; the quote was for 2.", {"required": 3, "quoted": 2}),
    "low_balance": ("This send needs 240 credits; 112 are left.", {"required": 240, "balance": 112}),
    "sender_not_approved": ("The sender ID 'ACME' is pending.", {"sender_status": "pending"}),
    "insufficient_scope": ("This token does not have the scope sms:send.", {"scope": "sms:send"}),
    "ip_not_allowed": ("The API key may not be used from 198.51.100.7.", {}),
    "spend_limit_reached": (
        "This send needs 240 credits, but 900 of the 1,000 a day are already spent.",
        {
            "required": 240,
            "period": "day",
            "spend_limit": 1000,
            "spent": 900,
            "resets_at": "2026-03-03T00:00:00.000Z",
        },
    ),
    "traffic_refused": (
        "11 phone numbers that begin with 254711000 got one-time passwords in ten minutes; 10 are usual.",
        {"rule": "block", "prefix": "254711000", "phones": 11, "most": 10, "window_seconds": 600},
    ),
    "state_conflict": ("The send is completed and cannot be canceled.", {"send_status": "completed"}),
}
"""By error code: an example detail, and the code's additional members."""
HEADERS = {
    "X-Request-Id": (
        "The request's id in the service's log. If the request has this header, its value is used.",
        "req_5b0a8e6f1d2c3b4a",
    ),
    "RateLimit-Policy": (
        "Requests allowed per account in a window of `w` seconds.",
        '"requests";q=10000;w=1',
    ),
    "RateLimit": (
        "Requests left in the window.",
        '"requests";r=9999;t=1',
    ),
    "Idempotency-Replayed": ("`true` if this is the response to an earlier request with the same key.", "true"),
    "Retry-After": ("Seconds to wait before the next attempt.", "2"),
    "WWW-Authenticate": ("How to authenticate.", 'Bearer realm="bulksms", error="invalid_token"'),
    "Content-Disposition": ("The name to save the file as.", f'attachment; filename="{SEND_ID}.csv"'),
}
EVERYWHERE = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
