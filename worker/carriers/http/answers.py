"""What an answer means for the messages of its request, as the carrier's declaration says.

Where the declaration is silent: 429, and 503 with Retry-After, took nothing and will later; 401 and 403 took nothing
and our credentials are refused; other 4xx took nothing and never will, but for 408; a redirection that only names
another address took nothing. All else, such as a 500, or a 200 that cannot be read, may have been taken.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shared.carriers.error_codes import with_code
from shared.carriers.http import paths
from shared.carriers.http.config import HttpConfig, Meaning, Reply
from worker.carriers.base import Answer, Outcome

SUSPENDED = "suspended"
IN_DOUBT: Meaning = "in_doubt"


class Heard(NamedTuple):
    """The outcome of each message, in order; and whether the carrier refuses our credentials, or us for now."""

    outcomes: list[Outcome]
    suspended: str | None = None
    """The carrier's code, where it does."""
    throttled: bool = False


def heard(config: HttpConfig, status: int, retry_after: bool, body: bytes, phones: list[str]) -> Heard:
    """What an answer says of the messages to these phones."""
    parsed = _heard(config, status, retry_after, body, phones)
    return parsed._replace(outcomes=[_explained(outcome, config.error_codes) for outcome in parsed.outcomes])


def _explained(outcome: Outcome, error_codes: Mapping[str, str]) -> Outcome:
    """With the meaning of its error, where the message may keep it."""
    if outcome.error is None or outcome.answer not in (Answer.REJECTED, Answer.FAILED):
        return outcome
    return outcome._replace(error=with_code(outcome.error, error_codes))


def _heard(config: HttpConfig, status: int, retry_after: bool, body: bytes, phones: list[str]) -> Heard:
    reply = config.answer
    document = paths.parse(body)
    code = paths.code(paths.at(document, reply.error)) if reply.error else ""
    if code in reply.errors:
        return _all(reply.errors[code], code, phones)
    if str(status) in reply.statuses:
        return _all(reply.statuses[str(status)], code or f"http_{status}", phones)
    if status in reply.taken:
        return _each(reply, document, code, phones)
    return _all(_usual(status, retry_after), code or f"http_{status}", phones)


def outcome(meaning: Meaning, reference: str | None, code: str) -> Outcome:
    """One message's outcome."""
    if meaning == SUSPENDED:
        return Outcome(Answer.THROTTLED, error=code or SUSPENDED)
    answer = Answer(meaning)
    if answer is Answer.ACCEPTED:
        return Outcome(answer, reference)
    return Outcome(answer, error=code or meaning)


def _usual(status: int, retry_after: bool) -> Meaning:
    if status == 429 or (status == 503 and retry_after):
        return "throttled"
    if status in (401, 403):
        return "suspended"
    if status in (301, 307, 308):
        return "failed"
    return "rejected" if 400 <= status < 500 and status != 408 else IN_DOUBT


def _all(meaning: Meaning, code: str, phones: list[str]) -> Heard:
    suspended = code if meaning == SUSPENDED else None
    return Heard([outcome(meaning, None, code)] * len(phones), suspended, meaning == "throttled")


def _each(reply: Reply, document: Any, code: str, phones: list[str]) -> Heard:
    """The outcomes of an answer that speaks of each message. One that it does not speak of is in doubt."""
    entries = paths.entries(document, reply.each) if isinstance(document, (dict, list)) else None
    if not entries:
        return _all(IN_DOUBT, code or "unreadable_answer", phones)
    find = _by_phone(reply.phone, entries) if reply.phone is not None and reply.each is not None else None
    if find is None and len(entries) != len(phones):
        return _all(IN_DOUBT, "unreadable_answer", phones)
    outcomes, suspended, throttled = [], None, False
    for place, phone in enumerate(phones):
        meaning, reference, parsed = _meaning(reply, find(phone) if find else entries[place])
        suspended = parsed or SUSPENDED if meaning == SUSPENDED else suspended
        throttled = throttled or meaning == "throttled"
        outcomes.append(outcome(meaning, reference, parsed))
    return Heard(outcomes, suspended, throttled)


def _meaning(reply: Reply, entry: Any) -> tuple[Meaning, str | None, str]:
    """What one entry means, the carrier's id, and its code."""
    reference = paths.identity(paths.at(entry, reply.id)) if reply.id is not None else None
    if reply.code is None:
        known = reference is not None or (reply.id is None and entry is not None)
        return ("accepted", reference, "") if known else (IN_DOUBT, None, "unreadable_answer")
    code_value = paths.at(entry, reply.code)
    return reply.codes.get(paths.word(code_value), IN_DOUBT), reference, paths.code(code_value) or "unreadable_answer"


def _by_phone(path: str, entries: list[Any]) -> Callable[[str], Any]:
    """Finds the entry of a phone; nothing where there are two, as nobody knows which is whose."""
    found: dict[str, Any] = {}
    for entry in entries:
        phone = paths.word(paths.at(entry, path)).lstrip("+")
        found[phone] = None if phone in found else entry
    return found.get
