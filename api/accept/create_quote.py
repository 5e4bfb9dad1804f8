"""Create quotes: what a send would cost and reject."""

from typing import Any

import orjson
from sqlalchemy import Connection

from api.accept.accept import validate_and_price
from api.accept.stored_quotes import keep
from api.accept.text import common_text, encoding_of
from api.auth.tokens import Caller
from api.commit.draft import MAX_INLINE_ENTRIES, Draft, encode
from api.commit.low_balance import BALANCE
from api.commit.send_response import countries_of, segments_of
from api.idempotency import IdempotentResponse, Key, once, replay_if_refused
from api.problems import Problem
from api.schemas.fields import timestamp
from api.schemas.rules import rules_response
from api.services import Services
from shared.sms.segments import split, transliterate


def quote(services: Services, caller: Caller, kind: str, body: dict[str, Any], key: Key | None) -> IdempotentResponse:
    """The cost and the rejected recipients of a send, and the id of a quote that caps its cost for 15 minutes.

    Raises Problem if the send could not be accepted, except for an insufficient balance.
    """
    try:
        draft = validate_and_price(services, caller, services.tokens.limits_of(caller.account_id), kind, body)
    except Problem:
        stored = replay_if_refused(services.engine, key)
        if stored is None:
            raise
        return _with_texts(stored, kind, body)
    with services.engine.begin() as connection:
        stored_response = once(connection, key, lambda: encode(_priced(connection, draft, body)))
    return _with_texts(stored_response, kind, body)


def _priced(connection: Connection, draft: Draft, body: dict[str, Any]) -> dict[str, Any]:
    """The response as stored: without texts, which must not be stored in the clear."""
    quote_id, expires_at = keep(connection, draft, body)
    balance = connection.execute(BALANCE, {"account": draft.account_id}).scalar_one()
    response: dict[str, Any] = {
        "counts": draft.counts(),
        "segments": segments_of(draft),
        "cost": draft.cost,
        **countries_of(draft),
        "quote_id": str(quote_id),
        "quote_expires_at": timestamp(expires_at),
        "balance": balance,
        "sufficient": balance >= draft.cost,
        **rules_response(draft.rules),
        "rejected": draft.rejected[:MAX_INLINE_ENTRIES],
    }
    if max(len(draft.rejected), draft.incomplete) > MAX_INLINE_ENTRIES:
        response["rejected_truncated"] = True
    return response


def _with_texts(stored_response: IdempotentResponse, kind: str, body: dict[str, Any]) -> IdempotentResponse:
    """The response with the parts of the text if it is the same for all recipients, and with its `encoding`."""
    message = common_text(kind, body)
    if message is not None and body["on_unicode"] == "transliterate":
        message = transliterate(message)
    response = {**orjson.loads(stored_response.body), "parts": [] if message is None else split(message)}
    encoding = encoding_of(response, kind, body)
    return IdempotentResponse(
        encode(response if encoding is None else {**response, "encoding": encoding}), stored_response.replayed
    )
