"""Reads a request's body: strict JSON, bounded, with nothing that the rest of the service could choke on."""

import json
import re
from typing import Any, NoReturn

from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from api.http.current_request import environ_asked, request_asked
from api.http.problems import Problem
from api.http.request_body import Whole

SMALL_BODY = 64 * 1024
LARGE_BODY = 8 * 1024 * 1024
"""Bytes: 100,000 phones and their text fit four times."""
DEEPEST = 32
MOST_KEYS = 1_000
"""Keys of one object. The largest that means anything has some hundred."""
JSON = "application/json"

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_json(limit: int) -> dict[str, Any]:
    """The body as an object.

    Raises Problem: payload_too_large over `limit` bytes, unsupported_media_type, or invalid_json for anything but
    one UTF-8 object without duplicate or countless keys, NaN, absurd numbers, absurd depth, NUL or lone surrogates.
    """
    raw = read_bytes(limit)
    if environ_asked().get("CONTENT_TYPE") != JSON and (mimetype := request_asked().mimetype) != JSON:
        given = f"`{mimetype}`" if mimetype else "no Content-Type"
        raise Problem("unsupported_media_type", f"The body came with {given}; only application/json is read.")
    return parse_object(raw)


def read_bytes(limit: int) -> bytes:
    """The body, at most `limit` bytes of it, whatever its headers say."""
    whole = environ_asked()["wsgi.input"]
    if isinstance(whole, Whole):
        if len(whole.data) > limit:
            raise _too_large(limit)
        return whole.data
    request = request_asked()
    announced = request.content_length
    if announced is not None and announced > limit:
        raise _too_large(limit)
    try:
        request.max_content_length = limit + 1  # at its own limit a stream ends in silence
        raw = request.get_data(cache=True)
    except RequestEntityTooLarge:
        raise _too_large(limit) from None
    except ClientDisconnected:
        raise _ended_early() from None
    if len(raw) > limit:
        raise _too_large(limit)
    if announced is not None and len(raw) < announced:
        raise _ended_early()
    return raw


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse strict JSON. Raises Problem invalid_json."""
    if not raw.strip():
        raise Problem("invalid_json", "The body is empty.")
    try:
        said = raw.decode("utf-8")
        value = DECODER.decode(said)
        if "\\u" in said or not _is_plain(value):
            _check(value, DEEPEST)
    except UnicodeDecodeError:
        raise Problem("invalid_json", "The body is not UTF-8.") from None
    except RecursionError:
        raise Problem("invalid_json", f"The body is nested more than {DEEPEST} levels deep.") from None
    except json.JSONDecodeError as error:
        raise Problem(
            "invalid_json", f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except ValueError as error:
        raise Problem("invalid_json", f"The body is not JSON that can be used: {error}.") from None
    if not isinstance(value, dict):
        raise Problem("invalid_json", f"The body must be an object, not {_name(value)}.")
    return value


def _too_large(limit: int) -> Problem:
    return Problem("payload_too_large", f"The body is larger than {limit:,} bytes.", headers={"Connection": "close"})


def _ended_early() -> Problem:
    return Problem("invalid_json", "The body ended before its Content-Length.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_KEYS:
        raise ValueError(f"an object has more than {MOST_KEYS:,} keys")
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {json.dumps(twice[:40])} is there twice")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _is_plain(value: Any) -> bool:
    """Whether it is an object of texts only. What none may hold comes escaped: JSON and UTF-8 refuse it as it is."""
    return type(value) is dict and all(type(item) is str for item in value.values())


def _check(value: Any, depth: int) -> None:
    if depth == 0:
        raise RecursionError
    if isinstance(value, str):
        if UNSTORABLE.search(value):
            raise ValueError("a string holds NUL or half a surrogate pair")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key, depth - 1)
            _check(item, depth - 1)
    elif isinstance(value, list):
        if all(type(item) is str for item in value):
            if UNSTORABLE.search("".join(value)):
                raise ValueError("a string holds NUL or half a surrogate pair")
        else:
            for item in value:
                _check(item, depth - 1)
    elif isinstance(value, (int, float)) and not -(2**63) <= value < 2**63:
        raise ValueError("a number is out of range")


def _name(value: Any) -> str:
    if value is None:
        return "null"
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
