"""Read a request's body as strict JSON, bounded in size, depth and number of values, and safe to store."""

import codecs
import io
import json
import re
from itertools import chain, islice
from typing import Any, NoReturn

from werkzeug.exceptions import RequestEntityTooLarge

from api.http.receive import too_large
from api.http.request import Request
from api.problems import Problem

SMALL_BODY = 64 * 1024
LARGE_BODY = 8 * 1024 * 1024
"""Bytes: four times the size of 100,000 phones and a message."""
MAX_DEPTH = 32
MAX_KEYS = 1_000
"""Keys of one object. The largest legitimate object has about a hundred."""
MAX_VALUES = 1_500_000
"""Values in a body. 100,000 contacts in 8 MB, with fields and tags, have at most a million."""
MAX_VALUES_SMALL_BODY = 15_000
"""Values in a body of up to SMALL_BODY bytes."""
TOO_MANY_KEYS = f"an object has more than {MAX_KEYS:,} keys"
MIN_BYTES_OF_MAX_KEYS = 4 * MAX_KEYS
"""Bytes that MAX_KEYS keys take at least."""
KEY = re.compile(rb'"[ \t\r\n]*:')
NUMBERS = (int, float)
JSON = "application/json"

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class WholeBody:
    """A small body, in memory, as `wsgi.input`."""

    __slots__ = ("data", "read")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.read = io.BytesIO(data).read

    def unread(self) -> bool:
        """Whether part of the body was not received."""
        return False


class UnusableValue(ValueError):
    """JSON that is valid but not accepted."""


def read_json(request: Request, limit: int) -> dict[str, Any]:
    """Read a request's body as a JSON object.

    Raises Problem: payload_too_large over `limit` bytes, unsupported_media_type, or invalid_json unless the body is one
    UTF-8 object within the bounds above, without duplicate keys, NaN, numbers beyond 64 bits, NUL or lone surrogates.
    """
    raw = read_bytes(request, limit)
    if request.environ.get("CONTENT_TYPE") != JSON and (mimetype := request.http.mimetype) != JSON:
        given = f"`{mimetype}`" if mimetype else "no Content-Type"
        raise Problem("unsupported_media_type", f"The body was sent with {given}; only application/json is accepted.")
    return parse_object(raw)


def read_bytes(request: Request, limit: int) -> bytes:
    """Read a request's body. Raises Problem payload_too_large over `limit` bytes, whatever Content-Length says."""
    body = request.environ["wsgi.input"]
    if isinstance(body, WholeBody):
        raw = body.data
    elif (request.http.content_length or 0) > limit:
        raise too_large(limit)
    else:
        request.http.max_content_length = limit + 1  # one more than the limit: at its maximum the stream ends silently
        try:
            raw = request.http.get_data()
        except RequestEntityTooLarge:
            raise too_large(limit) from None
    if len(raw) > limit:
        raise too_large(limit)
    return raw


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse strict JSON; a byte order mark of UTF-8 is ignored (RFC 8259 §8.1). Raises Problem invalid_json."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    if not raw.strip():
        raise Problem("invalid_json", "The body is empty.")
    if b"\0" in raw[:4]:  # UTF-16 or UTF-32 without a mark
        raise Problem("invalid_json", "The body is not UTF-8.")
    try:
        _check_count(raw)
        _check_keys(raw)
        text = raw.decode("utf-8")
        value = DECODER.decode(text)
        escapes = "\\u" in text
        if escapes or not _is_plain(value):
            _check(value, texts=escapes)
    except UnicodeDecodeError:
        raise Problem("invalid_json", "The body is not UTF-8.") from None
    except RecursionError:
        raise Problem("invalid_json", f"The body is nested more than {MAX_DEPTH} levels deep.") from None
    except json.JSONDecodeError as error:
        raise Problem(
            "invalid_json", f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except UnusableValue as error:
        raise Problem("invalid_json", f"The JSON body cannot be used: {error}.") from None
    except ValueError:  # Python converts no more than some thousand digits
        raise Problem("invalid_json", "The JSON body cannot be used: a number has too many digits.") from None
    if not isinstance(value, dict):
        raise Problem("invalid_json", f"The body must be an object, not {_name(value)}.")
    return value


def _check_count(raw: bytes) -> None:
    """Refuse a body with too many values before parsing it: two bytes of JSON can take a hundred bytes of memory, and
    the parser holds the GIL. Commas and brackets inside strings count as well."""
    limit = MAX_VALUES_SMALL_BODY if len(raw) <= SMALL_BODY else MAX_VALUES
    if len(raw) > limit and raw.count(b",") + raw.count(b"[") + raw.count(b"{") > limit:
        raise UnusableValue(f"it has more than {limit:,} values")


def _check_keys(raw: bytes) -> None:
    """Refuse a large body with an object of too many keys before parsing it: the parser would hold the GIL until the
    object's end. Between two opening braces are keys of few objects, each of them a string before a colon."""
    if len(raw) <= SMALL_BODY or raw.count(b":") <= MAX_KEYS:
        return
    for part in raw.split(b"{"):
        if len(part) <= MIN_BYTES_OF_MAX_KEYS or part.count(b":") <= MAX_KEYS:
            continue
        if next(islice(KEY.finditer(part), MAX_KEYS, None), None) is not None:
            raise UnusableValue(TOO_MANY_KEYS)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_KEYS:
        raise UnusableValue(TOO_MANY_KEYS)
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise UnusableValue(f"the key {json.dumps(duplicate[:40])} appears twice")
    return values


def _no_constant(name: str) -> NoReturn:
    raise UnusableValue(f"{name} is not a JSON number")


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _is_plain(value: Any) -> bool:
    """Whether the value is an object of strings only. Without escapes these need no check: unescaped, JSON allows no
    NUL and UTF-8 no surrogate."""
    return type(value) is dict and all(type(item) is str for item in value.values())


def _check(value: Any, *, texts: bool) -> None:
    """Check every nested value, level by level: a tenth of the time of a recursive call for each."""
    level = [value]
    for _ in range(MAX_DEPTH):
        if texts and UNSTORABLE.search("".join(item for item in level if type(item) is str)):
            raise UnusableValue("a string contains NUL or half a surrogate pair")
        numbers = [item for item in level if type(item) in NUMBERS]
        if numbers and not -(2**63) <= min(numbers) <= max(numbers) < 2**63:
            raise UnusableValue("a number is out of range")
        objects = [item for item in level if type(item) is dict]
        level = list(chain.from_iterable(item for item in level if type(item) is list))
        level += chain.from_iterable(objects)
        level += chain.from_iterable(map(dict.values, objects))
        if not level:
            return
    raise RecursionError


def _name(value: Any) -> str:
    if value is None:
        return "null"
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
