"""Turns an HTTP response into the outcomes of its request's messages, by the carrier's declaration.

For statuses the declaration does not cover: 429, and 503 with Retry-After, are throttled; 401 and 403 mean that our
credentials are refused; other 4xx except 408 are rejected if their body is JSON, and otherwise have failed, as the page
of a gateway is about no message; so has a redirect to another address. Everything else, such as a 500 or an unreadable
200, is in doubt.
"""

from collections import Counter
from itertools import cycle
from typing import Any, NamedTuple

from shared.carriers.http import paths
from shared.carriers.http.config import HttpConfig, Meaning, ResponseFormat
from worker.carriers.base import Outcome, ResponseKind, with_catalogue_error

SUSPENDED = "suspended"
IN_DOUBT: Meaning = "in_doubt"


class ParsedResponse(NamedTuple):
    """The outcome of each message, in order, and whether the carrier refuses our credentials or throttles us."""

    outcomes: list[Outcome]
    suspended: str | None = None
    """The carrier's error code if it refuses our credentials."""
    throttled: bool = False


def parse_response(
    config: HttpConfig, status: int, retry_after: bool, body: bytes, phones: list[str]
) -> ParsedResponse:
    """The parsed response for a request with messages to these phones, in the request's order."""
    parsed = _parse(config, status, retry_after, body, phones)
    return parsed._replace(outcomes=[with_catalogue_error(outcome, config.error_codes) for outcome in parsed.outcomes])


def _parse(config: HttpConfig, status: int, retry_after: bool, body: bytes, phones: list[str]) -> ParsedResponse:
    form = config.response
    document = paths.parse(body)
    code = paths.code(paths.at(document, form.error)) if form.error else ""
    if code in form.errors:
        return _all(form.errors[code], code, phones)
    if str(status) in form.statuses:
        return _all(form.statuses[str(status)], code or f"http_{status}", phones)
    if status in form.success_statuses:
        return _each(form, document, code, phones)
    return _all(_usual(status, retry_after, document), code or f"http_{status}", phones)


def outcome(meaning: Meaning, reference: str | None, code: str) -> Outcome:
    """One message's outcome."""
    if meaning == SUSPENDED:
        return Outcome(ResponseKind.THROTTLED, error=code or SUSPENDED)
    kind = ResponseKind(meaning)
    if kind is ResponseKind.ACCEPTED:
        return Outcome(kind, reference)
    return Outcome(kind, error=code or meaning)


def _usual(status: int, retry_after: bool, document: Any) -> Meaning:
    if status == 429 or (status == 503 and retry_after):
        return "throttled"
    if status in (401, 403):
        return "suspended"
    if status in (301, 307, 308):
        return "failed"
    if 400 <= status < 500 and status != 408:
        return "failed" if document is None else "rejected"
    return IN_DOUBT


def _all(meaning: Meaning, code: str, phones: list[str]) -> ParsedResponse:
    suspended = code if meaning == SUSPENDED else None
    return ParsedResponse([outcome(meaning, None, code)] * len(phones), suspended, meaning == "throttled")


def _each(form: ResponseFormat, document: Any, code: str, phones: list[str]) -> ParsedResponse:
    """The outcomes of a response with an entry per message. A message without an entry is in doubt."""
    entries = paths.entries(document, form.each) if isinstance(document, (dict, list)) else None
    if not entries:
        return _all(IN_DOUBT, code or "unreadable_answer", phones)
    if form.phone is not None and form.each is not None:
        entries = _by_phone(form.phone, entries, phones)
    if len(entries) != len(phones):
        return _all(IN_DOUBT, "unreadable_answer", phones)
    outcomes, suspended, throttled = [], None, False
    for entry in entries:
        meaning, reference, entry_code = _meaning(form, entry)
        suspended = entry_code or SUSPENDED if meaning == SUSPENDED else suspended
        throttled = throttled or meaning == "throttled"
        outcomes.append(outcome(meaning, reference, entry_code))
    return ParsedResponse(outcomes, suspended, throttled)


def _meaning(form: ResponseFormat, entry: Any) -> tuple[Meaning, str | None, str]:
    """One entry's meaning, carrier message id and error code."""
    reference = paths.identity(paths.at(entry, form.id)) if form.id is not None else None
    if form.code is None:
        taken = reference is not None or (form.id is None and entry is not None)
        return ("accepted", reference, "") if taken else (IN_DOUBT, None, "unreadable_answer")
    code_value = paths.at(entry, form.code)
    return form.codes.get(paths.word(code_value), IN_DOUBT), reference, paths.code(code_value) or "unreadable_answer"


def _by_phone(path: str, entries: list[Any], phones: list[str]) -> list[Any]:
    """The entry of each message. Those to one phone are alike, and get its entries in order, or its only one; None if
    their numbers differ otherwise."""
    by_phone: dict[str, list[Any]] = {}
    for entry in entries:
        by_phone.setdefault(paths.word(paths.at(entry, path)).lstrip("+"), []).append(entry)
    counts = Counter(phones)
    turns = {phone: cycle(own) for phone, own in by_phone.items() if len(own) in (1, counts[phone])}
    return [next(turns[phone]) if phone in turns else None for phone in phones]
