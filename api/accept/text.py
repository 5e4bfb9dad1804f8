"""The text of a send: its placeholders filled in, its segments, and why it is UCS-2.

A text that all recipients get is rendered here, after which the send is like any other. UCS-2 costs about twice as
much, so responses report which characters are not in GSM-7, and what could replace them. The report is built from the
request for each response. It is not stored with the response, because stored texts may be encrypted.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from api.commit.draft import encode
from api.idempotency import IdempotentResponse
from api.problems import Problem, invalid
from shared.sends.templates import MAX_PLACEHOLDERS, ComposeProblem, Template, compose, parse
from shared.sms.gsm7 import is_gsm7, outside_gsm7
from shared.sms.segments import Segmentation, replacement_of, segment, transliterate

MAX_CAUSES = 20
Variables = dict[str, str]


def parse_template(message: str) -> Template | None:
    """The message's template; None if it has no template syntax. Raises Problem for too many placeholders."""
    template = parse(message)
    if template is not None and len(template.different) > MAX_PLACEHOLDERS:
        count = len(template.different)
        detail = f"The message has {count} different placeholders and may have at most {MAX_PLACEHOLDERS}."
        raise invalid([{"pointer": "/message", "code": "too_many_variables", "detail": detail}])
    return template


def render_one(template: Template, body: dict[str, Any]) -> str:
    """Render the text of a single send. Raises Problem for a missing value, or a text that cannot be sent."""
    variables: Variables = body.get("variables") or {}
    missing = template.missing(variables)
    if missing is not None:
        detail = f"The placeholder `{missing}` has no value. Provide one in `variables`, or a default in the message."
        raise invalid([{"pointer": f"/variables/{missing}", "code": "missing_variable", "detail": detail}])
    composed = compose(template, variables, "send", None)
    if isinstance(composed, ComposeProblem):
        raise invalid([{"pointer": "/message", "code": composed.code, "detail": composed.detail}])
    return composed.text


def same_for_all(template: Template, entries: list[object] | None) -> bool:
    """Whether all recipients get the same text.

    They do if there is no placeholder, or if every placeholder has a default and no entry has values. `entries` is
    None for a group, whose contacts may always have values.
    """
    if not template.placeholders:
        return True
    return entries is not None and template.missing({}) is None and not any(isinstance(e, dict) for e in entries)


def common_text(kind: str, body: dict[str, Any]) -> str | None:
    """The text that all recipients of a request get; None if it differs by recipient."""
    message: str = body["message"]
    template = parse_template(message) if "{{" in message else None
    if template is None:
        return message
    if kind == "single" or same_for_all(template, body.get("phones")):
        return render_one(template, body)
    return None


def prepare_text(message: str, body: Mapping[str, Any], segment_cost: int) -> tuple[str, Segmentation]:
    """The message as sent and its segments. Raises Problem if `on_unicode` or `max_segments` does not allow it.

    A segment to all recipients has the `segment_cost`.
    """
    if body["on_unicode"] == "transliterate":
        message = transliterate(message)
    segmentation = segment(message)
    if segmentation.encoding == "ucs2" and body["on_unicode"] == "reject":
        raise _unicode_rejected(message, segment_cost)
    limit = body.get("max_segments")
    if limit is not None and segmentation.count > limit:
        raise Problem(
            "too_many_segments",
            f"The message takes {segmentation.count} segments; `max_segments` is {limit}.",
            segments=segmentation.count,
            max_segments=limit,
        )
    return message, segmentation


def _unicode_rejected(message: str, segment_cost: int) -> Problem:
    """The 422 for a message that needs UCS-2, with the same `encoding` as in a 200."""
    encoding = encoding_report(message, message, segment_cost)
    assert encoding is not None
    first, other_count = encoding["cause"][0], encoding["cause_count"] - 1
    others = f", and {other_count:,} more" if other_count else ""
    detail = f"Character {first['index'] + 1:,} of the message ({first['codepoint']}) is not in GSM-7{others}."
    return Problem("unicode_rejected", detail, encoding=encoding)


def encoding_report(message: str, sent: str, segment_cost: int | None) -> dict[str, Any] | None:
    """The `encoding` member of a response, for a message as given and as sent; None if the given one is GSM-7.

    A segment to all recipients has the `segment_cost`, which is None if the texts differ by recipient. The report then
    covers only the template's own characters, and has no alternative.
    """
    non_gsm7 = outside_gsm7(message)
    if not non_gsm7 and segment_cost is not None:
        return None
    characters = [
        {"index": index, "char": char, "codepoint": f"U+{ord(char):04X}", "replacement": replacement_of(char)}
        for index, char in non_gsm7[:MAX_CAUSES]
    ]
    changed = segment_cost is not None and is_gsm7(sent)
    plain = message if changed or segment_cost is None else transliterate(message)
    alternative = None
    if segment_cost is not None and not changed and is_gsm7(plain):
        count = segment(plain).count
        alternative = {"text": plain, "segments": count, "cost": count * segment_cost}
    return {
        "name": "gsm7" if changed else "ucs2",
        "cause": [] if changed else characters,
        "cause_count": 0 if changed else len(non_gsm7),
        "changed": characters if changed else [],
        "changed_count": len(non_gsm7) if changed else 0,
        "gsm7_alternative": alternative,
    }


def with_encoding(stored_response: IdempotentResponse, kind: str, body: dict[str, Any]) -> IdempotentResponse:
    """Add `encoding` to a response if its text is UCS-2 or was changed to avoid it."""
    response = orjson.loads(stored_response.body)
    encoding = encoding_of(response, kind, body)
    return (
        stored_response
        if encoding is None
        else IdempotentResponse(encode({**response, "encoding": encoding}), stored_response.replayed)
    )


def encoding_of(response: dict[str, Any], kind: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """The `encoding` member to add to a response; None if it needs none."""
    is_ucs2 = response["segments"]["encoding"] == "ucs2"
    if not is_ucs2 and body["on_unicode"] != "transliterate":
        return None
    message = common_text(kind, body)
    if message is None:
        return encoding_report(body["message"], body["message"], None) if is_ucs2 else None
    sent = transliterate(message) if body["on_unicode"] == "transliterate" else message
    segments = response["segments"]
    count = segments["count"] if "count" in segments else segments["per_message"]
    return encoding_report(message, sent, response["cost"] // count)
