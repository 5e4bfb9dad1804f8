"""Why a text is UCS-2, at about twice the price: which characters, where, and what they could be.

It is made of the request whenever an answer is given, and never kept with the answer: the texts that the database keeps
may be encrypted.
"""

from typing import Any

import orjson

from api.accept.placeholders import common_text
from api.commit.draft import encode
from api.commit.idempotency import Answered
from shared.sms.gsm7 import is_gsm7, outside_gsm7
from shared.sms.segments import replacement_of, segment, transliterate

MAX_CAUSES = 20


def report(message: str, sent: str, recipients: int | None) -> dict[str, Any] | None:
    """What the answers call `encoding`, of a message as it was given and as it is sent to so many recipients.

    None where all of it was GSM-7 from the beginning. Without `recipients` the texts differ by recipient: the causes
    are those in what they have in common, and there is no alternative.
    """
    found = outside_gsm7(message)
    if not found and recipients is not None:
        return None
    characters = [
        {"index": index, "char": char, "codepoint": f"U+{ord(char):04X}", "replacement": replacement_of(char)}
        for index, char in found[:MAX_CAUSES]
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
        "cause_count": 0 if changed else len(found),
        "changed": characters if changed else [],
        "changed_count": len(found) if changed else 0,
        "gsm7_alternative": alternative,
    }


def with_encoding(answered: Answered, kind: str, body: dict[str, Any]) -> Answered:
    """Add `encoding` to a response if its text is UCS-2 or was changed to avoid it."""
    answer = orjson.loads(answered.body)
    found = encoding_of(answer, kind, body)
    return answered if found is None else Answered(encode({**answer, "encoding": found}), answered.replayed)


def encoding_of(answer: dict[str, Any], kind: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """The `encoding` member to add to a response."""
    is_ucs2 = answer["segments"]["encoding"] == "ucs2"
    if not is_ucs2 and body["on_unicode"] != "transliterate":
        return None
    message = common_text(kind, body)
    if message is None:
        return report(body["message"], body["message"], None) if is_ucs2 else None
    sent = transliterate(message) if body["on_unicode"] == "transliterate" else message
    return report(message, sent, answer["counts"]["accepted"] if "counts" in answer else 1)
