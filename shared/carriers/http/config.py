"""The declaration of an HTTP carrier, which is validated on creation.

Each class is a table of the declaration, and its fields are the settings with their defaults.
docs/reference/carriers.md explains them.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import unknown_codes
from shared.carriers.http.tables import LONGEST_VALIDITY, Table
from shared.carriers.http.tables import HttpConfigError as HttpConfigError
from shared.carriers.http.templates import names

Meaning = Literal["accepted", "throttled", "rejected", "failed", "in_doubt", "suspended"]
"""The meaning of a response for a message. `suspended`: our credentials were refused, so nothing was accepted."""
Word = Literal["sent", "undelivered", "delivered"]
Proof = Literal["basic", "secret", "hmac", "twilio", "jwt"]

OF_ONE = frozenset({"phone", "message_id"})
OF_ALL = frozenset({"phones", "plus_phones", "messages"})
OF_A_MESSAGE = OF_ONE | OF_ALL | {"message_ids", "text", "sender_id", "plus_sender_id", "validity", "expires_at"}
OF_US = frozenset({"receipts_url", "inbound_url"})
READY = Path(__file__).parent / "ready"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Table):
    """The request. Either `json` or `form` is the body; without them there is none."""

    url: str
    method: Literal["GET", "POST", "PUT"] = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    message: Mapping[str, Any] | None = field(default=None, repr=False)
    """The value of `{messages}` for each message."""
    basic: list[str] | None = field(default=None, repr=False)
    """User and password for basic authentication."""
    bearer: str | None = field(default=None, repr=False)
    batch: int = 1
    """Maximum messages of one text per request."""
    shortest_validity: int = 60
    longest_validity: int = LONGEST_VALIDITY
    """Minimum and maximum of `{validity}` in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Table):
    """The meaning of responses."""

    taken: list[int] = field(default_factory=lambda: [200, 201, 202])
    """HTTP statuses whose body has the result of each message."""
    each: str | None = None
    """Path of the list with an entry for each message; without it, the body is about the only message."""
    phone: str | None = None
    """Path in an entry that identifies the message; without it, entries are in the order of the request."""
    id: str | None = None
    code: str | None = None
    codes: Mapping[str, Meaning] = field(default_factory=dict)
    """The meaning of codes. With any other code the message is in doubt."""
    error: str = ""
    """Path of the error code in a response to the whole request."""
    errors: Mapping[str, Meaning] = field(default_factory=dict)
    statuses: Mapping[str, Meaning] = field(default_factory=dict)
    """The meaning of HTTP statuses, if it differs from the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts(Table):
    """Paths in a receipt."""

    id: str
    status: str
    statuses: Mapping[str, Word]
    each: str | None = None
    phone: str | None = None
    error: str | None = None
    time: str | None = None
    """Path of its time, in ISO 8601; without it, the time of arrival."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken(Table):
    """Paths in an inbound message."""

    phone: str
    recipient: str
    text: str
    each: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback(Table):
    """How the carrier authenticates its calls. Without this table it may not call."""

    proof: Proof
    secret: str = field(repr=False)
    """For basic: the password; for secret: the value of the parameter `key` in our address."""
    user: str = ""
    header: str = ""
    """For hmac: the header with the signature, in hexadecimal or base64."""
    prefix: str = ""
    """For hmac: the prefix of the signature, such as `sha256=`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll(Table):
    """Where to fetch receipts, for a carrier that does not call."""

    url: str
    every: float = 10.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig(Table):
    """One account at an HTTP carrier."""

    name: str
    request: Request
    answer: Reply
    receipts: Receipts | None = None
    inbound: Spoken | None = None
    callback: Callback | None = None
    poll: Poll | None = None
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values for placeholders, such as account names and keys."""
    error_codes: Mapping[str, str] = field(default_factory=dict)
    """Maps the carrier's error codes to codes of the catalogue."""
    our_url: str = ""
    """Our public address for the carrier, such as `https://sms.example.com`."""
    window: int = 20
    """Maximum unanswered messages per worker process."""
    rate: float = 0.0
    """Segments per second; 0 is unlimited."""
    answer_time: float = 10.0
    """Seconds after which a request without a response is in doubt."""
    connect_time: float = 5.0
    http2: bool = True
    """The carrier's address."""
    tls_ca: str | None = None
    """A PEM file with certificates to trust instead of the system's."""

    @classmethod
    def from_mapping(cls, name: str, table: Mapping[str, Any]) -> Self:
        """Create one; `ready` names a declaration into which these settings are merged. Raises HttpConfigError."""
        values = dict(table)
        ready = values.pop("ready", None)
        made = cls.of({"name": name, **(_over(_ready(ready), values) if ready is not None else values)})
        made.check()
        return made

    def check(self) -> None:
        """Check that the settings are consistent. Raises HttpConfigError."""
        if not NAME.fullmatch(self.name):
            raise HttpConfigError("name: 1 to 40 letters, digits, - and _")
        known = OF_A_MESSAGE | OF_US | set(self.values)
        for code in unknown_codes(self.error_codes):
            raise HttpConfigError(f"error_codes: {code!r} is not one of {', '.join(CATALOGUE)}")
        request = self.request
        used = [request.url, request.headers, request.json, request.form, request.message, request.basic]
        for unknown in sorted(set(names([*used, request.bearer])) - known):
            there = ", ".join(self.values) or "nothing"
            raise HttpConfigError(f"request: there is no {{{unknown}}}; values has {there}")
        for name, value in self.values.items():
            if not value or not value.isprintable() or not value.isascii():
                raise HttpConfigError(f"values.{name}: printable ASCII characters")
        if self.poll is not None:
            for unknown in sorted(set(names([self.poll.url, self.poll.headers])) - set(self.values)):
                raise HttpConfigError(f"poll: there is no {{{unknown}}} in values")
        for where, url in (("request.url", request.url), ("our_url", self.our_url), ("poll.url", self.poll_url)):
            if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
                raise HttpConfigError(f"{where}: an address that begins with https:// (or http://)")
        if request.json is not None and request.form is not None:
            raise HttpConfigError("request: json or form, not both")
        if request.basic is not None and len(request.basic) != 2:
            raise HttpConfigError("request.basic: a user and a password")
        if request.shortest_validity > request.longest_validity:
            raise HttpConfigError("request.shortest_validity: not more than request.longest_validity")
        self._check_batch()
        if self.poll is not None and self.receipts is None:
            raise HttpConfigError("receipts is missing: poll needs to know what stands where")
        if self.tls_ca is not None and not Path(self.tls_ca).is_file():
            raise HttpConfigError(f"tls_ca: there is no file {self.tls_ca}")
        self._check_callback()

    def _check_batch(self) -> None:
        """Whether a request with several messages covers each of them."""
        request = self.request
        if request.batch == 1:
            return
        names_used = set(names([request.url, request.headers, request.json, request.form]))
        if names_used & OF_ONE or not names_used & OF_ALL:
            raise HttpConfigError("request.batch: several messages need {phones} or {messages}, and not {phone}")
        if self.answer.each is None:
            raise HttpConfigError("answer.each is missing: where an answer has an entry for each message")

    def _check_callback(self) -> None:
        call = self.callback
        if call is None:
            return
        if not call.secret:
            raise HttpConfigError("callback.secret may not be empty")
        if call.proof == "hmac" and not call.header:
            raise HttpConfigError("callback.header is missing: where the signature stands")
        if call.proof == "twilio" and not self.our_url:
            raise HttpConfigError("our_url is missing: the carrier signs it")

    @property
    def poll_url(self) -> str:
        """Where to fetch receipts, or empty."""
        return self.poll.url if self.poll is not None else ""

    def our_urls(self) -> dict[str, str]:
        """The addresses to give to the carrier."""
        key = f"?key={self.callback.secret}" if self.callback is not None and self.callback.proof == "secret" else ""
        base = f"{self.our_url.rstrip('/')}/carriers/{self.name}"
        return {f"{what}_url": f"{base}/{what}{key}" if self.our_url else "" for what in ("receipts", "inbound")}


def _ready(name: Any) -> dict[str, Any]:
    known = sorted(path.stem for path in READY.glob("*.toml"))
    if name not in known:
        raise HttpConfigError(f"ready: one of {', '.join(known)}, not {name!r}")
    return tomllib.loads((READY / f"{name}.toml").read_text())


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge one declaration into another, table by table."""
    made = dict(below)
    for key, value in above.items():
        under = made.get(key)
        made[key] = _over(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return made
