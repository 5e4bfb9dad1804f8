"""The OpenAPI 3.1 document, made of the endpoints' contracts and the schemas that check the requests.

What a word means is said once, in WORDS, because a word means the same wherever it stands.
"""

import inspect
import re
from collections.abc import Iterable
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema, fields

from api.endpoint import ENDPOINTS, PREFIX, Endpoint
from api.problems import CATALOGUE
from api.resources.auth import CREDENTIALS, REVOKE_TOKEN
from api.resources.sms import QUOTES
from api.schemas import CanonicalUUID, ErrorAnswer, Moment, Phones, Request, page_of
from shared.lifecycle import Category, MessageStatus, SendState

DESCRIPTION = """
Send one SMS, a list of them, or one to every contact of a group. A 200 means: stored, paid for, and it will be sent,
or you will be told why not and get your credits back.

**Words.** A *send* is one accepted request, a *message* is one SMS to one phone, a *segment* is one part of it on the
air. One credit is one segment.

**Forms.** Bodies are JSON in UTF-8. Times are RFC 3339; answers give them in UTC with `Z`. Ids are UUIDs, lower case.
Phones are digits only and begin with the country code. Answers may get new fields; ignore those that you do not know.

**Tokens.** `POST /api/v1/auth/token` gives a bearer token, valid for 24 hours.

**Trying again.** Give every send an `Idempotency-Key`: the same request with the same key has one effect and gets the
first answer again, so after a timeout you can send it once more. After 429 and 503 wait as long as `Retry-After` says.

**Lists** come in pages: pass `next_cursor` of one page as `cursor` of the next, until it is null.

**Errors** are problem details (RFC 9457); tell them apart by `code`. `GET /api/v1/errors` explains each of them.
A method that a path does not have is 405 `method_not_allowed`, with `Allow`; an unknown path is 404 `not_found`.
"""
TAGS = {
    "auth": "Exchange an API key for a token, and take the token back.",
    "sms": "Send, or ask what it would cost.",
    "sends": "Accepted requests: where they are, and stopping them.",
    "messages": "One SMS to one phone: its status and what happened to it.",
    "balance": "Credits, and the ledger behind them.",
    "groups": "Contact groups.",
    "limits": "What the service takes at most.",
    "errors": "Every error code.",
}

SEND_ID, GROUP_ID = "019aa4c2-7d10-7c3e-9b5f-2e61d08fa4b7", "019a8e51-3b7a-7f02-8c4d-5a9be7713c06"
BATCH_ID, MESSAGE_ID = "019aa4c2-7d11-7a08-b3c6-91f24de50000", "019aa4c2-7d11-7a08-b3c6-91f24de50001"
CREATED_AT, SUBMITTED_AT, FINISHED_AT = "2026-03-02T09:00:00.120Z", "2026-03-02T09:00:00.480Z", "2026-03-02T09:00:03.900Z"
PHONE, CURSOR = "254711000000", "MDE5YWE0YzItN2QxMS03YTA4LWIzYzYtOTFmMjRkZTUwMDAx"
COUNTS = {"submitted": 5, "accepted": 3, "duplicate": 1, "invalid": 1, "suppressed": 0}
REJECTED = [
    {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": "The phone starts with 0; start with the country code."},
    {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
]
FIELD_ERRORS = [{"pointer": "/phone", "code": "invalid_phone", "detail": "The phone starts with 0; start with the country code."}]

BASE_ERRORS = ("internal_error", "unavailable")
TOKEN_ERRORS = ("missing_token", "invalid_token", "token_expired", "token_revoked", "account_suspended", "rate_limited")
BODY_ERRORS = ("invalid_json", "validation_failed", "payload_too_large")
KEY_ERRORS = ("validation_failed", "idempotency_in_progress", "idempotency_key_reused")
KEYLESS = ("/auth/token", "/auth/revoke", "/sms/quote")
"""POSTs to which an Idempotency-Key means nothing: they have no effect that could happen twice."""
