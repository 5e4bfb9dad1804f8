"""The catalogue of errors, for people and for the `type` of every problem."""

from typing import Any

from api.answers.base import page_of
from api.answers.errors import ErrorEntryAnswer
from api.endpoint import endpoint
from api.problems import CATALOGUE, FIELD_CODES, Problem


@endpoint("GET", "/errors", answers=page_of(ErrorEntryAnswer), scope=None)
def errors() -> dict[str, Any]:
    """List every error code; under `validation_failed` also the codes of single fields."""
    return {"data": [_entry(code) for code in CATALOGUE], "next_cursor": None}


@endpoint("GET", "/errors/<code>", answers=ErrorEntryAnswer, fails=("error_not_found",), scope=None)
def error(code: str) -> dict[str, Any]:
    """Explain one error code."""
    if code not in CATALOGUE:
        raise Problem("error_not_found", "There is no such error code.")
    return _entry(code)


def _entry(code: str) -> dict[str, Any]:
    kind = CATALOGUE[code]
    made: dict[str, Any] = {
        "code": code,
        "status": kind.status,
        "title": kind.title,
        "remediation": kind.remediation,
        "retryable": kind.retryable,
    }
    if code == "validation_failed":
        made["field_codes"] = [{"code": each, "remediation": what} for each, what in FIELD_CODES.items()]
    return made
