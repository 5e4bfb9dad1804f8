"""Errors of single fields. Each has a code, a JSON pointer, and a detail that says what to do."""

from typing import Any

from marshmallow import Schema, ValidationError

from api.problems import MAX_ERRORS
from api.schemas.spelling import MAX_COMPARED, MAX_ERRORS_COMPARED, nearest_name

UNKNOWN_FIELD = "unknown_field"


def coded(code: str, detail: str) -> Any:
    """An entry of a field's `error_messages`. Marshmallow passes messages of any type on unchanged."""
    return {"code": code, "detail": detail}


def fail(code: str, detail: str, **more: str) -> ValidationError:
    """A validation error with a code, a detail and further members."""
    return ValidationError({"code": code, "detail": detail, **more})


def errors_of(schema: Schema, error: ValidationError) -> list[dict[str, str]]:
    """A ValidationError as pointers, codes and details, in the order of the schema's fields: the first MAX_ERRORS."""
    errors: list[dict[str, str]] = []
    _flatten(schema, error.messages, "", errors, MAX_COMPARED if len(error.messages) <= MAX_ERRORS_COMPARED else 0)
    return errors


def _flatten(schema: Schema, messages: Any, pointer: str, errors: list[dict[str, str]], hints: int) -> None:
    """Append the errors in `messages`; the first `hints` unknown fields with the most similar known one. A plain string
    comes from a validator and gets the code `invalid`."""
    if len(errors) >= MAX_ERRORS:
        return
    if isinstance(messages, dict) and messages.get("code") == UNKNOWN_FIELD:
        errors.append(_unknown_field(schema, pointer, with_hint=len(errors) < hints))
    elif isinstance(messages, dict) and isinstance(messages.get("code"), str):
        errors.append({"pointer": pointer, **messages})
    elif isinstance(messages, dict):
        for key, inner in messages.items():
            name = "" if key == "_schema" else "/" + str(key).replace("~", "~0").replace("/", "~1")
            _flatten(schema, inner, pointer + name, errors, hints)
    elif isinstance(messages, list):
        for inner in messages:
            _flatten(schema, inner, pointer, errors, hints)
    else:
        errors.append({"pointer": pointer, "code": "invalid", "detail": str(messages)})


def _unknown_field(schema: Schema, pointer: str, *, with_hint: bool) -> dict[str, str]:
    nearest = nearest_name(pointer.rpartition("/")[2], schema.load_fields) if with_hint else None
    hint = f"Did you mean `{nearest}`?" if nearest else f"Known fields: {', '.join(schema.load_fields)}."
    return {"pointer": pointer[:200], "code": UNKNOWN_FIELD, "detail": f"There is no such field. {hint}"}
