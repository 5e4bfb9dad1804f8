"""Authenticates callbacks of carriers: by password, by a secret in the URL, or by a signature.

Comparisons take constant time.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

import jwt

from shared.carriers.http.config import Callback, HttpConfig

LEEWAY = 300
"""Seconds by which the carrier's clock may be ahead. Callbacks may be of any age: they are idempotent."""
_PORT = re.compile(r":[0-9]*\Z")
_EITHER_WAY = re.compile(r"[!$'()*,/:;?@]")
_ESCAPED = re.compile("%(?:21|24|27|28|29|2A|2C|2F|3A|3B|3F|40)", re.IGNORECASE)
"""Characters that a query may contain as themselves (RFC 3986 §3.4) and that separate nothing in it."""


class Call(NamedTuple):
    """A received callback: header names in lower case, `query` and `form` with the first value of each name."""

    what: str
    """`receipts` or `inbound`."""
    headers: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    body: bytes
    query_string: str = ""

    def __repr__(self) -> str:
        """Omit the contents."""
        return f"Call({self.what}, {len(self.body)} bytes)"


def is_authentic(config: HttpConfig, call: Call) -> bool:
    """Whether the carrier made the call. Always False for a carrier without a `callback` table."""
    if config.callback is None:
        return False
    return _CHECKS[config.callback.auth](config, config.callback, call)


def same(given: str, expected: str) -> bool:
    """Whether two strings are equal, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _basic(config: HttpConfig, callback: Callback, call: Call) -> bool:
    scheme, _, credentials = call.headers.get("authorization", "").partition(" ")
    expected = base64.b64encode(f"{callback.user}:{callback.secret}".encode()).decode()
    return scheme.lower() == "basic" and same(credentials.strip(), expected)


def _secret(config: HttpConfig, callback: Callback, call: Call) -> bool:
    return same(call.query.get("key", ""), callback.secret)


def _hmac(config: HttpConfig, callback: Callback, call: Call) -> bool:
    signature = call.headers.get(callback.header.lower(), "")
    if not signature.startswith(callback.prefix):
        return False
    digest = hmac.digest(callback.secret.encode(), call.body, hashlib.sha256)
    given = signature.removeprefix(callback.prefix).strip()
    expected = digest.hex() if re.fullmatch(r"[0-9A-Fa-f]{64}", given) else base64.b64encode(digest).decode()
    return same(given.lower() if len(given) == 64 else given, expected)


def _twilio(config: HttpConfig, callback: Callback, call: Call) -> bool:
    """X-Twilio-Signature: HMAC-SHA-1, in base64, of the URL and the form's sorted names and values.

    Another body is signed by its SHA-256 in the query. Every form of the URL that Twilio may have signed is tried.
    """
    body_hash = hashlib.sha256(call.body).hexdigest()
    if call.body and not call.form and not same(call.query.get("bodySHA256", ""), body_hash):
        return False
    given, fields = call.headers.get("x-twilio-signature", ""), "".join(map("".join, sorted(call.form.items())))
    signed = [f"{url}{fields}".encode("utf-8", "replace") for url in _signed_urls(config, call)]
    digests = [hmac.digest(callback.secret.encode(), each, hashlib.sha1) for each in signed]
    return any(same(given, base64.b64encode(digest).decode()) for digest in digests)


def _signed_urls(config: HttpConfig, call: Call) -> Iterator[str]:
    """The URL with and without its port, and with its query as Twilio's libraries write it; all mean the same."""
    parts = urlsplit(f"{config.public_url.rstrip('/')}/carriers/{config.name}/{call.what}")
    host = parts.netloc.rpartition("@")[2]
    bare = _PORT.sub("", host)
    usual = f"{bare}:{80 if parts.scheme == 'http' else 443}"
    hosts = dict.fromkeys((parts.netloc, host, bare, usual) if host in (bare, usual) else (parts.netloc, host, bare))
    queries = [call.query_string] if call.form else dict.fromkeys(_spellings(call.query_string))
    for netloc in hosts:
        for query in queries:
            yield parts._replace(netloc=netloc, query=query).geturl()


def _spellings(query: str) -> Iterator[str]:
    """The query, with the characters that it may contain in either way as themselves or as %XX."""
    for spaced in (query, query.replace("+", "%20"), query.replace("%20", "+")):
        yield from (spaced, spaced.replace("%27", "'"), spaced.replace("'", "%27"))
        yield _ESCAPED.sub(lambda match: unquote(match[0]), spaced)
        yield _EITHER_WAY.sub(lambda match: quote(match[0], safe=""), spaced)


def _jwt(config: HttpConfig, callback: Callback, call: Call) -> bool:
    """A bearer token (HS256) whose `payload_hash` claim is the SHA-256 of the body."""
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    try:
        claims = jwt.decode(
            token.strip(), callback.secret, ["HS256"], leeway=LEEWAY, options={"require": ["iat"], "verify_aud": False}
        )
    except (jwt.InvalidTokenError, binascii.Error, ValueError):
        return False
    payload_hash = claims.get("payload_hash")
    return isinstance(payload_hash, str) and same(payload_hash.lower(), hashlib.sha256(call.body).hexdigest())


_CHECKS = {"basic": _basic, "secret": _secret, "hmac": _hmac, "twilio": _twilio, "jwt": _jwt}
