"""The OpenAPI 3.1 document, made of the endpoints' contracts and the schemas that check the requests.

What a word means is said once, in WORDS, because it means the same wherever it stands.
"""

import inspect
import re
from typing import Any, Final

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema, fields

from api.endpoint import ENDPOINTS, PREFIX, Endpoint
from api.problems import CATALOGUE, Problem
from api.resources.auth import CREDENTIALS, REVOKE_TOKEN
from api.resources.sms import QUOTES
from api.schemas import MOST_PHONES, CanonicalUUID, ErrorAnswer, Moment, Phones, RejectedAnswer, Request, page_of
from shared.lifecycle import Category, MessageStatus, SendState

DESCRIPTION = """
Send one SMS, a list of them, or one to every contact of a group. A 200 means: stored, paid for, and it will be sent,
or you will be told why not and get your credits back.

**Words.** A *send* is one accepted request, a *message* is one SMS to one phone, a *segment* is one part of it on the
air. One credit is one segment.

**Forms.** Bodies are JSON in UTF-8. Times are RFC 3339, and answers give them in UTC with `Z`. Ids are UUIDs in lower
case. Answers may get new fields: ignore those that you do not know.

**Trying again.** Give every send an `Idempotency-Key`: the same request with the same key has one effect and gets the
first answer again, so it is safe to repeat after a timeout. After 429 and 503 wait as long as `Retry-After` says.

**Lists** come in pages: give `next_cursor` of a page as `cursor` of the next, until it is null.

**Errors** are problem details (RFC 9457); tell them apart by `code`. `GET /api/v1/errors` explains each of them. A
method that a path does not have is 405 `method_not_allowed`, with `Allow`.
"""
TAGS = {
    "auth": "Exchange an API key for a token, and take the token back.",
    "sms": "Send, or ask what it would cost.",
    "sends": "Accepted requests: where they are, and how to stop them.",
    "messages": "One SMS to one phone each: its status, and what happened to it.",
    "balance": "Credits, and the ledger behind them.",
    "groups": "Contact groups.",
    "limits": "What the service takes at most.",
    "errors": "Every error code.",
}

SEND_ID, GROUP_ID = "019cad1e-3f78-7c3e-9b5f-2e61d08fa4b7", "019a8e51-3b7a-7f02-8c4d-5a9be7713c06"
BATCH_ID, MESSAGE_ID = "019cad1e-3f79-7a08-b3c6-91f24de50000", "019cad1e-3f79-7a08-b3c6-91f24de50001"
PHONE = "254711000000"
NOT_A_PHONE = "The phone starts with 0; start with the country code."
ACCEPTED_AT, SENT_AT, DELIVERED_AT = "2026-03-02T09:00:00.120Z", "2026-03-02T09:00:00.480Z", "2026-03-02T09:00:03.900Z"
EXPIRES_AT = "2026-03-05T09:00:00.120Z"
STATUSES, STATES = [str(status) for status in MessageStatus], [str(state) for state in SendState]

Word = tuple[str, Any] | tuple[str, Any, dict[str, Any]]
WORDS: Final[dict[str, Word]] = {
    # name, or schema.name where a word needs more: what it is, an example of it, and more of JSON Schema
    "accepted": ("Will be sent to.", 3),
    "access_token": ("Goes into `Authorization: Bearer …`.", "eyJhIjoxLCJrIjoiYWtfNGYxYyJ9.aZ8x1A.Qm9nR2s"),
    "allow_duplicates": ("Send to a phone as often as it is listed; otherwise once.", False),
    "amount": ("Credits.", 3),
    "api_key": ("The API key.", "your-api-key"),
    "api_secret": ("The API key's secret.", "your-api-secret"),
    "at": ("When.", ACCEPTED_AT),
    "attempts": ("How often it was handed to a carrier.", 1),
    "backlog_messages": ("The account's messages that wait to be sent.", 0),
    "balance": ("Credits that can still be spent, after this.", 996),
    "Balance.balance": ("Credits that can still be spent; what a 402 compares.", 880),
    "Error.balance": ("Of `low_balance`: credits that are left.", 112),
    "Single.balance": ("Credits that can still be spent, after this.", 999),
    "batch_id": ("The slice of the send's recipients.", BATCH_ID),
    "body_bytes": ("The largest body, in bytes.", 65_536),
    "bulk_body_bytes": ("The largest body of /sms/send-bulk and /sms/quote, in bytes.", 8_388_608),
    "callback_url": ("Stored with the send.", "https://example.com/sms"),
    "carrier": ("The carrier that took it.", "simulator"),
    "carrier_reference": ("The carrier's own id of the message.", "5f2c9a0e"),
    "category": ("What it is for: decides how soon its turn comes.", "transactional", {"enum": [*map(str, Category)]}),
    "characters": ("Unicode code points.", 20),
    "code": ("What it is, for programs.", "low_balance"),
    "FieldError.code": ("What is wrong with it.", "invalid_phone"),
    "Rejected.code": ("Why.", "invalid_phone", {"enum": ["invalid_phone", "duplicate", "suppressed"]}),
    "completed_at": ("When nothing was left to submit.", "2026-03-02T09:00:01.250Z"),
    "contact_count": ("Contacts in the group.", 1234),
    "cost": ("Credits.", 3),
    "Single.cost": ("Credits.", 1),
    "Message.cost": ("Credits; 0 where they were given back.", 1),
    "count": ("Segments.", 1),
    "counts": ("What became of the recipients.", None),
    "Send.counts": (
        "Recipients at the door, and the accepted ones by message status.",
        {"submitted": 5, "accepted": 3, "duplicate": 1, "invalid": 1, "suppressed": 0, "removed": 0}
        | dict.fromkeys(STATUSES, 0)
        | {"sent": 1, "delivered": 2},
    ),
    "created_at": ("When it was accepted.", ACCEPTED_AT),
    "Group.created_at": ("When it was made.", "2026-01-12T08:15:30.000Z"),
    "Transaction.created_at": ("When it was posted.", ACCEPTED_AT),
    "credit": ("The book that the credits went to.", "reserved"),
    "cursor": ("`next_cursor` of the page before.", "MDE5Y2FkMWUtM2Y3OS03YTA4LWIzYzYtOTFmMjRkZTUwMDAx"),
    "data": ("The entries.", None),
    "Events.data": (
        "What happened, oldest first.",
        [
            {"at": ACCEPTED_AT, "type": "accepted"},
            {"at": SENT_AT, "type": "sent", "carrier": "simulator", "carrier_reference": "5f2c9a0e", "attempts": 1},
            {"at": DELIVERED_AT, "type": "delivered", "error": None},
        ],
    ),
    "debit": ("The book that the credits came from.", "available"),
    "detail": ("What it is this time, for people.", NOT_A_PHONE),
    "duplicate": ("Dropped: listed before.", 1),
    "duplicate_of": ("The index at which the phone is listed first.", 0),
    "encoding": ("gsm7 where every character fits, else ucs2.", "gsm7", {"enum": ["gsm7", "ucs2"]}),
    "error": ("The carrier's reason, where there is one.", None),
    "errors": ("Of `validation_failed`: every field that is wrong, 100 at most.", None),
    "errors_total": ("Of `validation_failed`: how many errors there are.", 1),
    "eta": ("When the last message should be handed over; null where nobody knows.", None),
    "expires_at": ("When it is given up.", EXPIRES_AT),
    "Token.expires_at": ("When the token ends.", "2026-03-03T09:00:00.000Z"),
    "expires_in": ("Seconds until the token ends.", 86_400),
    "finished_at": ("When the last word on it came.", DELIVERED_AT),
    "group_id": ("The group, of a group send.", None),
    "Group.group_id": ("The group.", GROUP_ID),
    "GroupSend.group_id": ("A group of the account.", GROUP_ID),
    "held_reason": ("Why the send is held.", None),
    "id": ("Grows with every row.", 4711),
    "idempotency_days": ("How long an Idempotency-Key is remembered, in days.", 8),
    "index": ("The recipient's place in `phones`, from 0.", 3),
    "instance": ("The path of the request.", "/api/v1/sms/send"),
    "invalid": ("Not a phone.", 1),
    "kind": ("What was asked for.", "bulk", {"enum": ["single", "bulk", "group"]}),
    "Transaction.kind": ("Why.", "reserve", {"enum": ["topup", "reserve", "capture", "release", "refund"]}),
    "limit": ("Entries on a page, 1 to 1,000.", 50),
    "GroupPaging.limit": ("Entries on a page, 1 to 1,000; without it and `cursor`, all groups.", 50),
    "low_balance_threshold": ("Below this the balance counts as low.", 100),
    "max": ("Of `too_many_recipients`: how many are taken.", MOST_PHONES),
    "max_segments": ("Refuse the message when it takes more.", 2),
    "Error.max_segments": ("Of `too_many_segments`: how many it may take.", 2),
    "message": ("The text.", "Your table is ready."),
    "message_characters": ("The longest message, in Unicode code points.", 1600),
    "message_id": ("The message.", MESSAGE_ID),
    "messages": ("The accepted recipients in order, 1,000 at most; of a group send, none.", None),
    "messages_truncated": ("Whether there are more messages than this: see `messages_url`.", True),
    "messages_url": ("Where all messages of the send are listed.", f"/api/v1/sends/{SEND_ID}/messages"),
    "metadata": ("Yours, as it was given.", {"order": "A-1042"}),
    "metadata_bytes": ("The largest `metadata`, in bytes.", 2048),
    "name": ("The group's name.", "VIP"),
    "next_cursor": ("The `cursor` of the next page; null on the last.", None),
    "on_unicode": ("What to do with a message that does not fit GSM-7.", "send"),
    "page_items": ("The longest page.", 1000),
    "parts": ("The text as it is cut, one entry a segment.", ["Your table is ready."]),
    "per_message": ("Segments of each message.", 1),
    "phone": ("Digits only, beginning with the country code.", PHONE),
    "Rejected.phone": ("As it was given; null where it was no text.", "0712"),
    "phones": ("1 to 100,000 phones: digits only, beginning with the country code.", [PHONE, "254711000001"]),
    "phones_per_request": ("The most recipients of one bulk send.", MOST_PHONES),
    "pointer": ("The field, as a JSON pointer (RFC 6901).", "/phone"),
    "rate": ("Segments per second, at most.", 50),
    "Send.rate": ("Segments per second, at most; null: as fast as the route goes.", None),
    "reason": ("Of a top-up or refund: why.", None),
    "reference": ("Yours; comes back everywhere.", "order A-1042"),
    "rejected": (
        "The recipients that were not accepted, 1,000 at most.",
        [
            {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
            {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
        ],
    ),
    "Error.rejected": ("Of `no_valid_recipients`: why each one is not valid, 100 at most.", None),
    "rejected_truncated": ("Whether there are more than this.", True),
    "remediation": ("What to do about it.", "Top up, or send to fewer recipients."),
    "request_id": ("Also in X-Request-Id. Tell it to the operator.", "req_5b0a8e6f1d2c3b4a"),
    "requests_per_second": ("Requests per second that are taken from the account.", 10_000),
    "required": ("Of `low_balance`: credits that it needs.", 240),
    "reserved": ("Credits set aside for messages that are on their way.", 120),
    "retryable": ("Whether the same request may succeed later.", False),
    "revoked": ("The token is dead.", True),
    "schedule_days_ahead": ("How far ahead a send can be scheduled, in days.", 90),
    "scope": ("What the token may be used for, separated by spaces.", "balance:read groups:read sms:read sms:send"),
    "Error.scope": ("Of `insufficient_scope`: what the token lacks.", "sms:send"),
    "segments": ("How many, and in which encoding.", None),
    "Message.segments": ("Segments of this message.", 1),
    "Error.segments": ("Of `too_many_segments`: how many the message takes.", 3),
    "send_at": ("When it is due; null: at once.", None),
    "send_id": ("The send.", SEND_ID),
    "sender_id": ("The sender ID.", "ACME"),
    "sender_status": ("Of `sender_not_approved`: where it stands.", "pending"),
    "since": ("Accepted at this time or later.", "2026-03-01T00:00:00Z"),
    "state": ("Only sends in this state.", "sending"),
    "Error.state": ("Of `state_conflict`: the state in which it is not possible.", "completed"),
    "status": ("Where it is.", "queued", {"enum": STATES}),
    "Message.status": ("Where it is.", "delivered", {"enum": STATUSES}),
    "Send.status": ("Where it is.", "completed", {"enum": STATES}),
    "MessagePaging.status": ("Only messages with this status.", "undelivered"),
    "HistoryPaging.status": ("Only messages with this status.", "undelivered"),
    "Error.status": ("The HTTP status.", 402),
    "ErrorEntry.status": ("The HTTP status.", 402),
    "strict": ("All recipients, or nothing.", False),
    "submitted": ("Recipients in the request, or contacts in the group.", 5),
    "Error.submitted": ("Of `too_many_recipients`: how many were given.", MOST_PHONES + 1),
    "submitted_at": ("When it was handed to the carrier.", SENT_AT),
    "sufficient": ("Whether the balance covers it.", True),
    "suggestion": ("What was probably meant.", "254712000000"),
    "suppressed": ("Opted out.", 0),
    "test": ("Accepted with a test key: it reaches no phone and takes no credits.", False),
    "title": ("What it is, for people.", "Low balance"),
    "token": ("The token to revoke; without it, the one in use.", "eyJhIjoxLCJrIjoiYWtfNGYxYyJ9.aZ8x1A.Qm9nR2s"),
    "token_seconds": ("How long a token is valid, in seconds.", 86_400),
    "token_type": ("Always Bearer.", "Bearer"),
    "total": ("Segments of all messages.", 3),
    "type": ("Where the error is explained.", "/api/v1/errors/low_balance"),
    "Event.type": ("What happened: `accepted`, `due`, or the status that the message got.", "delivered"),
    "unit": ("One credit is one segment of an SMS.", "sms"),
    "until": ("Accepted before this time.", "2026-03-02T00:00:00Z"),
    "updated_at": ("When it changed last.", "2026-03-02T09:00:01.250Z"),
}

TEXT, NUMBER = fields.String, fields.Integer


def _schema(name: str, known: dict[str, type[fields.Field[Any]]]) -> type[Schema]:
    return Schema.from_dict({key: kind(required=True) for key, kind in known.items()}, name=name)


ERROR_ENTRY = _schema(
    "ErrorEntryAnswer",
    {"code": TEXT, "status": NUMBER, "title": TEXT, "remediation": TEXT, "retryable": fields.Boolean},
)
LIMITS = (
    *("message_characters", "phones_per_request", "body_bytes", "bulk_body_bytes", "schedule_days_ahead"),
    *("metadata_bytes", "token_seconds", "requests_per_second", "page_items", "idempotency_days", "backlog_messages"),
)
ANSWERS: dict[str, type[Schema]] = {
    "/auth/revoke": _schema("Revoked", {"revoked": fields.Boolean}),
    "/errors": page_of(ERROR_ENTRY),
    "/errors/<code>": ERROR_ENTRY,
    "/limits": _schema("Limits", dict.fromkeys(LIMITS, NUMBER)),
}
"""Of the endpoints that name no schema of their answer."""
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
        "counts": WORDS["Send.counts"][1] | {"sent": 0, "delivered": 0, counted: 3},
        "completed_at": completed_at,
    }
    for action, status, counted, completed_at in (
        ("cancel", "canceled", "canceled", SENT_AT),
        ("pause", "paused", "queued", None),
        ("resume", "queued", "queued", None),
    )
}
"""Where an operation's example differs from that of its schema."""
CSV = f"""message_id,phone,status,segments,cost,error,submitted_at,finished_at
{MESSAGE_ID},{PHONE},delivered,1,1,,{SENT_AT},{DELIVERED_AT}
"""

BODIES = {"/auth/token": CREDENTIALS, "/auth/revoke": REVOKE_TOKEN}
KEYLESS = ("/auth/token", "/auth/revoke", "/sms/quote")
"""POSTs that do not read an Idempotency-Key."""
PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "validation_failed": (
        f"/phone: {NOT_A_PHONE}",
        {"errors": [{"pointer": "/phone", "code": "invalid_phone", "detail": NOT_A_PHONE}], "errors_total": 1},
    ),
    "too_many_recipients": (
        "100,001 recipients were given; one request takes at most 100,000.",
        {"max": MOST_PHONES, "submitted": MOST_PHONES + 1},
    ),
    "no_valid_recipients": (
        "None of the recipients can be sent to.",
        {"rejected": [{"index": 0, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE}]},
    ),
    "too_many_segments": (
        "The message takes 3 segments; `max_segments` is 2.",
        {"segments": 3, "max_segments": 2},
    ),
    "low_balance": ("This send needs 240 credits; 112 are left.", {"required": 240, "balance": 112}),
    "sender_not_approved": ("The sender ID 'ACME' is pending.", {"sender_status": "pending"}),
    "insufficient_scope": ("This token does not have the scope sms:send.", {"scope": "sms:send"}),
    "state_conflict": ("The send is completed and cannot be canceled.", {"state": "completed"}),
}
"""Detail and further members of the errors that have them."""
ERROR = ErrorAnswer.from_dict(
    {
        "errors": fields.List(fields.Nested(_schema("FieldError", dict.fromkeys(("pointer", "code", "detail"), TEXT)))),
        "rejected": fields.List(fields.Nested(RejectedAnswer)),
        **{name: NUMBER() for name in ("errors_total", "required", "balance", "max", "submitted")},
        **{name: NUMBER() for name in ("segments", "max_segments")},
        **{name: TEXT() for name in ("sender_status", "scope", "state")},
    },
    name="Error",
)

HEADERS = {
    "X-Request-Id": (
        "The request's name in the service's log; yours, where the request has one.",
        "req_5b0a8e6f1d2c3b4a",
    ),
    "RateLimit-Policy": (
        "Requests that are taken from an account in a window of `w` seconds.",
        '"requests";q=10000;w=1',
    ),
    "RateLimit": ("Requests that are left now.", '"requests";r=9999;t=1'),
    "Idempotency-Replayed": ("`true`: this is the answer of an earlier request with the same key.", "true"),
    "Retry-After": ("Seconds to wait before the next try.", "2"),
    "WWW-Authenticate": ("How to authenticate.", 'Bearer realm="bulksms", error="invalid_token"'),
    "Content-Disposition": ("The name to save the file as.", f'attachment; filename="{SEND_ID}.csv"'),
}
EVERYWHERE = ("X-Request-Id", "RateLimit-Policy", "RateLimit")


def document() -> dict[str, Any]:
    """The whole document."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title="Bulk SMS",
        version="1",
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": DESCRIPTION.strip()},
        servers=[{"url": "/", "description": "This installation"}],
    )
    converter: Any = plugin.converter
    converter.map_to_openapi_type(CanonicalUUID, "string", "uuid")
    converter.map_to_openapi_type(Phones, "array", None)
    converter.map_to_openapi_type(fields.Url, "string", "uri")
    converter.add_attribute_function(_words)
    _add_components(spec)
    for name, description in TAGS.items():
        spec.tag({"name": name, "description": description})
    pages: dict[str, type[Schema]] = {}
    for operation in ENDPOINTS:
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", PREFIX + operation.path)
        answers = operation.answers or ANSWERS[operation.path]
        answers = pages.setdefault(_name(answers), answers)
        spec.path(path=path, operations={operation.method.lower(): _operation(operation, answers)})
    return _mended(spec.to_dict(), {name: key[0] for key, name in converter.refs.items()})


def _add_components(spec: APISpec) -> None:
    spec.components.security_scheme(
        "bearer", {"type": "http", "scheme": "bearer", "description": "The `access_token` of POST /api/v1/auth/token."}
    )
    spec.components.parameter(
        "Idempotency-Key",
        "header",
        {
            "required": False,
            "description": "The same request with the same key has one effect, and gets the first answer again: "
            "a number of your order, or a UUID.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        },
    )
    for name, (description, example) in HEADERS.items():
        spec.components.header(name, {"description": description, "schema": {"type": "string"}, "example": example})
    for code, kind in CATALOGUE.items():
        detail, members = PROBLEMS.get(code, (kind.title + ".", {}))
        value = Problem(code, detail, **members).document("/api/v1/sms/send", "req_5b0a8e6f1d2c3b4a")
        spec.components.example(code, {"summary": kind.title, "value": value})
    spec.components.schema("Error", schema=ERROR)


def _operation(operation: Endpoint, answers: type[Schema]) -> dict[str, Any]:
    summary, _, rest = (inspect.getdoc(operation.function) or "").partition("\n")
    needs = f"Needs the scope `{operation.scope}`." if operation.scope else ""
    made: dict[str, Any] = {
        "operationId": operation.function.__name__,
        "summary": summary.replace("`", ""),
        "description": "\n\n".join(filter(None, (rest.strip(), needs))),
        "tags": [operation.path.split("/")[1]],
        "parameters": _parameters(operation),
        "responses": _responses(operation, answers),
        "security": [] if operation.scope is None else [{"bearer": [operation.scope] if operation.scope else []}],
    }
    body = _body(operation)
    if body is not None:
        made["requestBody"] = body
    return made


def _body(operation: Endpoint) -> dict[str, Any] | None:
    if operation.path == "/sms/quote":
        schemas = dict(QUOTES.values())
        each = {kind: {"value": _example(schema)} for kind, schema in schemas.items()}
        return _json({"anyOf": list(schemas.values())}, each, required=True)
    schema = operation.takes() if operation.takes is not None else BODIES.get(operation.path)
    if schema is None:
        return None
    examples: dict[str, Any] = {"required": {"summary": "What is required", "value": _example(schema)}}
    if schema is not CREDENTIALS:
        summary = "With options" if operation.takes else "Another token"
        examples["options"] = {"summary": summary, "value": _example(schema, options=True)}
    return _json(schema, examples, required=operation.takes is not None)


def _json(schema: Any, examples: dict[str, Any], *, required: bool) -> dict[str, Any]:
    return {"required": required, "content": {"application/json": {"schema": schema, "examples": examples}}}


def _parameters(operation: Endpoint) -> list[Any]:
    parameters: list[Any] = []
    for kind, name in re.findall(r"<(\w+:)?(\w+)>", operation.path):
        description, example = WORDS[name][:2]
        schema = {"type": "string", **({"format": "uuid"} if kind == "uuid:" else {})}
        parameter = {"description": description, "schema": schema, "example": example}
        parameters.append({"in": "path", "name": name, "required": True, **parameter})
    if operation.query is not None:
        parameters.append({"in": "query", "schema": operation.query})
    if operation.path == "/auth/token":
        for name in ("X-API-Key", "X-API-Secret"):
            description = "In place of the body: both headers, and no body."
            parameters.append({"in": "header", "name": name, "description": description, "schema": {"type": "string"}})
    if _takes_key(operation):
        parameters.append("Idempotency-Key")
    return parameters


def _takes_key(operation: Endpoint) -> bool:
    return operation.method == "POST" and operation.path not in KEYLESS


def _responses(operation: Endpoint, answers: type[Schema]) -> dict[str, Any]:
    example = _example(answers()) | CHANGED.get(operation.path, {})
    content: dict[str, Any] = {"application/json": {"schema": answers, "example": example}}
    headers = ["Idempotency-Replayed"] if _takes_key(operation) else []
    if operation.path == "/sends/<uuid:send_id>/messages":
        content["text/csv"] = {"schema": {"type": "string"}, "example": CSV}
        headers.append("Content-Disposition")
    description = answers.__doc__ or "Done."
    responses: dict[str, Any] = {"200": {"description": description, "headers": _headers(headers), "content": content}}
    by_status: dict[int, list[str]] = {}
    for code in _fails(operation):
        by_status.setdefault(CATALOGUE[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        examples = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
        responses[str(status)] = {
            "description": ", ".join(f"`{code}`" for code in codes),
            "headers": _headers(_headers_of(status, codes)),
            "content": {"application/problem+json": {"schema": "Error", "examples": examples}},
        }
    return responses


def _headers(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*EVERYWHERE, *names)}


def _headers_of(status: int, codes: list[str]) -> list[str]:
    if status == 401:
        return ["WWW-Authenticate"]
    return ["Retry-After"] if status in (429, 503) or "idempotency_in_progress" in codes else []


def _fails(operation: Endpoint) -> list[str]:
    codes = list(operation.fails)
    if operation.takes or operation.path in ("/sms/quote", *BODIES):
        codes += ["invalid_json", "validation_failed", "payload_too_large"]
        codes += ["unsupported_media_type"] if operation.path != "/auth/revoke" else []
    if _takes_key(operation):
        codes += ["validation_failed", "idempotency_in_progress", "idempotency_key_reused"]
    if "<uuid:" in operation.path:
        codes.append("not_found")
    if operation.scope is not None:
        codes += ["missing_token", "invalid_token", "token_expired", "token_revoked"]
        codes += ["account_suspended", "rate_limited"]
    if operation.scope:
        codes.append("insufficient_scope")
    return list(dict.fromkeys([*codes, "internal_error", "unavailable"]))


def _word(field: Any) -> Word | None:
    return WORDS.get(f"{_name(type(field.parent))}.{field.name}") or WORDS.get(field.name)


def _words(_: Any, field: Any, *, ret: dict[str, Any], **__: Any) -> dict[str, Any]:
    """What JSON Schema says of a field beyond its type."""
    if not isinstance(field.parent, Schema):
        return {}
    made: dict[str, Any] = {}
    word = _word(field)
    if word is not None:
        description, example, more = (*word, {})[:3]
        made = {"description": description, **more}
        if example is not None:
            made["examples"] = [example]
    if isinstance(field, fields.String) and re.search(r"_at$|^at$|^eta$", str(field.name)):
        made["format"] = "date-time"
    if isinstance(field, fields.Enum):
        made["type"] = "string"
    if "example" in ret:
        made["examples"] = [ret.pop("example")]
    return {key: value for key, value in made.items() if key not in ret}


def _example(schema: Schema, *, options: bool = False) -> dict[str, Any]:
    """An example with what is required; with `options`, also with what has no default, but for times."""
    return {
        name: _value(field)
        for name, field in schema.fields.items()
        if field.required or (options and not isinstance(field, (Moment, fields.Boolean)))
    }


def _value(field: Any) -> Any:
    word = _word(field) if isinstance(field.parent, Schema) else None
    if word is not None and word[1] is not None:
        return word[1]
    if isinstance(field, fields.Nested):
        return _example(field.schema)
    if isinstance(field, fields.List):
        return [_value(field.inner)]
    return None


def _mended(made: dict[str, Any], classes: dict[str, type[Schema]]) -> dict[str, Any]:
    """The document without what the schemas do not mean: answers may grow, and a query has no null."""
    for name, schema in made["components"]["schemas"].items():
        if classes[name].__doc__:
            schema["description"] = classes[name].__doc__
        if not issubclass(classes[name], Request):
            schema.pop("additionalProperties", None)
    for path in made["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                said = parameter.get("schema", {})
                said.pop("examples", None)  # a page for trying requests would fill them in
                if isinstance(said.get("type"), list):
                    said["type"] = said["type"][0]
                    said.pop("default", None)
    return made


def _name(schema: Any) -> str:
    made = schema if isinstance(schema, type) else type(schema)
    assert issubclass(made, Schema)
    return made.__name__.removesuffix("Answer")
