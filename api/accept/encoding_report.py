"""Why a text is UCS-2, at about twice the price: which characters are not in GSM-7, and what could replace them.

The report is built from the request for each response. It is not stored with the response, because stored texts may be
encrypted.
"""

from typing import Any

import orjson

from api.accept.placeholders import common_text
from api.commit.draft import encode
from api.commit.idempotency import IdempotentResponse
from shared.sms.gsm7 import is_gsm7, outside_gsm7
from shared.sms.segments import replacement_of, segment, transliterate

MAX_CAUSES = 20


def report(message: str, sent: str, recipients: int | None) -> dict[str, Any] | None:
    """The `encoding` member of a response, for a message as given and as sent; None if the given one is GSM-7.

    `recipients` is None if the texts differ by recipient. The report then covers only the template's own characters,
    and has no alternative.
    """
    non_gsm7 = outside_gsm7(message)
    if not non_gsm7 and recipients is not None:
        return None
    characters = [
        {"index": index, "char": char, "codepoint": f"U+{ord(char):04X}", "replacement": replacement_of(char)}
        for index, char in non_gsm7[:MAX_CAUSES]
    ]
    changed = recipients is not None and is_gsm7(sent)
    plain = message if changed or recipients is None else transliterate(message)
    alternative = None
    if recipients is not None and not changed and is_gsm7(plain):
        count = segment(plain).count
        alternative = {"text": plain, "segments": count, "cost": count * recipients}
    return {
        "name": "gsm7" if changed else "ucs2",
        "cause": [] if changed else characters,
        "cause_count": 0 if changed else len(non_gsm7),
        "changed": characters if changed else [],
        "changed_count": len(non_gsm7) if changed else 0,
        "gsm7_alternative": alternative,
    }


def with_encoding(answered: IdempotentResponse, kind: str, body: dict[str, Any]) -> IdempotentResponse:
    """Add `encoding` to a response if its text is UCS-2 or was changed to avoid it."""
    response = orjson.loads(answered.body)
    encoding = encoding_of(response, kind, body)
    return (
        answered
        if encoding is None
        else IdempotentResponse(encode({**response, "encoding": encoding}), answered.replayed)
    )


def encoding_of(response: dict[str, Any], kind: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """The `encoding` member to add to a response; None if it needs none."""
    is_ucs2 = response["segments"]["encoding"] == "ucs2"
    if not is_ucs2 and body["on_unicode"] != "transliterate":
        return None
    message = common_text(kind, body)
    if message is None:
        return report(body["message"], body["message"], None) if is_ucs2 else None
    sent = transliterate(message) if body["on_unicode"] == "transliterate" else message
    return report(message, sent, response["counts"]["accepted"] if "counts" in response else 1)
