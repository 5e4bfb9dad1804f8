"""The catalogues of request errors and message errors. The `type` of every problem is a URL into them."""

from typing import Any

from api.endpoint import endpoint
from api.problems import CATALOGUE, FIELD_CODES, Problem
from api.resources.errors.schemas import ErrorEntryResponse, ErrorQuery
from api.schemas.paging import page_of
from shared.carriers.error_catalogue import CATALOGUE as MESSAGE_ERRORS


@endpoint("GET", "/errors", query=ErrorQuery, response=page_of(ErrorEntryResponse), scope=None)
def list_errors(query: dict[str, Any]) -> dict[str, Any]:
    """List every error code of requests or, with `kind=message`, of messages.

    The entry `validation_failed` also lists the codes of single fields.
    """
    codes = MESSAGE_ERRORS if query["kind"] == "message" else CATALOGUE
    return {"data": [_entry(code) for code in codes], "next_cursor": None}


@endpoint("GET", "/errors/<code>", response=ErrorEntryResponse, scope=None)
def get_error(code: str) -> Any:
    """Explain one error code of requests or messages."""
    if code not in CATALOGUE and code not in MESSAGE_ERRORS:
        raise Problem("error_not_found", "Unknown error code.")
    return _entry(code)


def _entry(code: str) -> Any:
    return _message_entry(code) if code in MESSAGE_ERRORS else _request_entry(code)


def _request_entry(code: str) -> dict[str, Any]:
    kind = CATALOGUE[code]
    entry: dict[str, Any] = {
        "code": code,
        "kind": "request",
        "status": kind.status,
        "permanent": None,
        "title": kind.title,
        "meaning": None,
        "remediation": kind.remediation,
        "retryable": kind.retryable,
    }
    if code == "validation_failed":
        entry["field_codes"] = [
            {"code": field_code, "remediation": remediation} for field_code, remediation in FIELD_CODES.items()
        ]
    return entry


def _message_entry(code: str) -> dict[str, Any]:
    entry = MESSAGE_ERRORS[code]
    return {
        "code": code,
        "kind": "message",
        "status": None,
        "permanent": entry.permanent,
        "title": entry.title,
        "meaning": entry.meaning,
        "remediation": entry.remediation,
        "retryable": not entry.permanent,
    }
