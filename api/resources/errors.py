"""The catalogue of errors, for people and for the `type` of every problem."""

from typing import Any

from api.answers import ErrorEntryAnswer, page_of
from api.endpoint import endpoint
from api.problems import CATALOGUE, Problem


@endpoint("GET", "/errors", answers=page_of(ErrorEntryAnswer), scope=None)
def errors() -> dict[str, Any]:
    """List every error code."""
    return {"data": [_entry(code) for code in CATALOGUE], "next_cursor": None}


@endpoint("GET", "/errors/<code>", answers=ErrorEntryAnswer, fails=("error_not_found",), scope=None)
def error(code: str) -> dict[str, Any]:
    """Explain one error code."""
    if code not in CATALOGUE:
        raise Problem("error_not_found", "There is no such error code.")
    return _entry(code)


def _entry(code: str) -> dict[str, Any]:
    kind = CATALOGUE[code]
    return {
        "code": code,
        "status": kind.status,
        "title": kind.title,
        "remediation": kind.remediation,
        "retryable": kind.retryable,
    }
