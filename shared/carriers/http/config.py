"""The declaration of an HTTP carrier, validated on creation.

Each class is a table of the declaration; its fields are the settings with their defaults. docs/reference/carriers.md
explains them.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote, urlsplit

from shared.carriers.config_tables import MAX_VALIDITY, ConfigError, Table
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import unknown_codes
from shared.carriers.http.request_templates import names

Meaning = Literal["accepted", "throttled", "postponed", "rejected", "failed", "in_doubt", "suspended"]
"""Outcome of a response for a message; `suspended`: our credentials were refused, so nothing was accepted."""
ReceiptStatus = Literal["sent", "undelivered", "delivered"]
CallbackAuth = Literal["basic", "secret", "hmac", "twilio", "jwt"]

OF_ONE = frozenset({"phone", "message_id"})
OF_ALL = frozenset({"phones", "plus_phones", "messages"})
OF_A_MESSAGE = OF_ONE | OF_ALL | {"message_ids", "text", "sender_id", "plus_sender_id", "validity", "expires_at"}
OF_US = frozenset({"receipts_url", "inbound_url"})
PRESETS = Path(__file__).parent / "presets"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Table):
    """The request to submit messages. `json` or `form` is the body; with neither it has none."""

    url: str
    method: Literal["GET", "POST", "PUT"] = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    message: Mapping[str, Any] | None = field(default=None, repr=False)
    """Template of each item of `{messages}`."""
    basic: list[str] | None = field(default=None, repr=False)
    """User and password of HTTP basic authentication."""
    bearer: str | None = field(default=None, repr=False)
    batch: int = 1
    """Maximum number of messages per request; they all have the same text."""
    min_validity: int = 60
    max_validity: int = MAX_VALIDITY
    """Lower and upper bound of `{validity}` in seconds, as the carrier accepts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat(Table):
    """How to interpret responses."""

    success_statuses: list[int] = field(default_factory=lambda: [200, 201, 202])
    """HTTP statuses whose body has the outcome of each message."""
    each: str | None = None
    """Path of the list with an entry per message; without it, the body is the entry of a single message."""
    phone: str | None = None
    """Path of the phone in an entry; without it, entries are in the order of the request."""
    id: str | None = None
    code: str | None = None
    codes: Mapping[str, Meaning] = field(default_factory=dict)
    """Meanings of codes; with any other code the message is in doubt."""
    error: str = ""
    """Path of the error code in a response about the whole request."""
    errors: Mapping[str, Meaning] = field(default_factory=dict)
    statuses: Mapping[str, Meaning] = field(default_factory=dict)
    """Meanings of HTTP statuses that differ from the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts(Table):
    """Paths of the values in a receipt."""

    id: str
    status: str
    statuses: Mapping[str, ReceiptStatus]
    each: str | None = None
    phone: str | None = None
    error: str | None = None
    time: str | None = None
    """Path of its time (ISO 8601); without it, the time of arrival."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage(Table):
    """Paths of the values in an inbound message."""

    phone: str
    recipient: str
    text: str
    each: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOutNotice(Table):
    """Paths of the values in a carrier's notice that a phone has opted out of a sender. It comes to `inbound_url`."""

    phone: str
    sender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback(Table):
    """Authentication of the carrier's callbacks. Without this table they are refused."""

    auth: CallbackAuth
    secret: str = field(repr=False)
    """basic: the password; secret: the value of the parameter `key` in our URL."""
    user: str = ""
    header: str = ""
    """hmac: the header with the signature, in hex or base64."""
    prefix: str = ""
    """hmac: the text before the signature, such as `sha256=`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll(Table):
    """The request to fetch receipts from a carrier without callbacks."""

    url: str
    interval: float = 10.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig(Table):
    """One account at a carrier over HTTP."""

    name: str
    request: Request
    response: ResponseFormat
    receipts: Receipts | None = None
    inbound: InboundMessage | None = None
    opt_out: OptOutNotice | None = None
    callback: Callback | None = None
    poll: Poll | None = None
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of placeholders, such as account names and keys."""
    error_codes: Mapping[str, str] = field(default_factory=dict)
    """Code of the error catalogue for each code of the carrier."""
    public_url: str = ""
    """Base URL at which the carrier reaches us, such as `https://sms.example.com`."""
    window: int = 20
    """Maximum number of unanswered messages per worker process."""
    rate: float = 0.0
    """Segments per second; 0: unlimited."""
    response_timeout: float = 10.0
    """Response timeout in seconds; messages of a request that times out are in doubt."""
    connect_timeout: float = 5.0
    tls_ca: str | None = None
    """PEM file with the trusted certificates, instead of the system's."""

    @classmethod
    def from_mapping(cls, name: str, table: Mapping[str, Any]) -> Self:
        """Create a validated declaration; settings override those of the `preset`. Raises ConfigError."""
        values = dict(table)
        preset = values.pop("preset", None)
        config = cls.of({"name": name, **(_merge(_preset(preset), values) if preset is not None else values)})
        config.check()
        return config

    def check(self) -> None:
        """Validate the combination of settings. Raises ConfigError."""
        if not NAME.fullmatch(self.name):
            raise ConfigError("name must be 1 to 40 letters, digits, - and _")
        known = OF_A_MESSAGE | OF_US | set(self.values)
        for code in unknown_codes(self.error_codes):
            raise ConfigError(f"error_codes: {code!r} is not one of {', '.join(CATALOGUE)}")
        request = self.request
        used = [request.url, request.headers, request.json, request.form, request.message, request.basic]
        for unknown in sorted(set(names([*used, request.bearer])) - known):
            available = ", ".join(self.values) or "nothing"
            raise ConfigError(f"request: there is no {{{unknown}}}; values has {available}")
        for name, value in self.values.items():
            if not value or not value.isprintable() or not value.isascii():
                raise ConfigError(f"values.{name} must be printable ASCII characters")
        if self.poll is not None:
            for unknown in sorted(set(names([self.poll.url, self.poll.headers])) - set(self.values)):
                raise ConfigError(f"poll: there is no {{{unknown}}} in values")
        for where, url in (("request.url", request.url), ("public_url", self.public_url), ("poll.url", self.poll_url)):
            if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
                raise ConfigError(f"{where} must be an address that begins with https:// (or http://)")
        if request.json is not None and request.form is not None:
            raise ConfigError("request must have json or form, not both")
        if request.basic is not None and len(request.basic) != 2:
            raise ConfigError("request.basic must be a user and a password")
        if request.min_validity > request.max_validity:
            raise ConfigError("request.min_validity must not be more than request.max_validity")
        self._check_batch()
        if self.opt_out is not None and self.inbound is None:
            raise ConfigError("inbound is missing: opt_out reads what is no message there")
        if self.poll is not None and self.receipts is None:
            raise ConfigError("receipts is missing: poll needs the paths of the values in a receipt")
        if self.tls_ca is not None and not Path(self.tls_ca).is_file():
            raise ConfigError(f"tls_ca: there is no file {self.tls_ca}")
        self._check_callback()

    def _check_batch(self) -> None:
        """Check that a request with several messages includes every one of them."""
        request = self.request
        if request.batch == 1:
            return
        names_used = set(names([request.url, request.headers, request.json, request.form]))
        if names_used & OF_ONE or not names_used & OF_ALL:
            raise ConfigError("request.batch: several messages need {phones} or {messages}, and not {phone}")
        if self.response.each is None:
            raise ConfigError("response.each is missing: the path of the list with an entry for each message")

    def _check_callback(self) -> None:
        call = self.callback
        if call is None:
            return
        if not call.secret:
            raise ConfigError("callback.secret may not be empty")
        if call.auth == "hmac" and not call.header:
            raise ConfigError("callback.header is missing: the header with the signature")
        if call.auth == "twilio" and not self.public_url:
            raise ConfigError("public_url is missing: it is part of what the carrier signs")

    @property
    def poll_url(self) -> str:
        """URL for polling receipts; empty without a `poll` table."""
        return self.poll.url if self.poll is not None else ""

    def callback_urls(self) -> dict[str, str]:
        """Our callback URLs, as given to the carrier; empty without `public_url`."""
        given = self.callback
        key = f"?key={quote(given.secret, safe='')}" if given is not None and given.auth == "secret" else ""
        base = f"{self.public_url.rstrip('/')}/carriers/{self.name}"
        return {f"{what}_url": f"{base}/{what}{key}" if self.public_url else "" for what in ("receipts", "inbound")}


def _preset(name: Any) -> dict[str, Any]:
    known = sorted(path.stem for path in PRESETS.glob("*.toml"))
    if name not in known:
        raise ConfigError(f"preset must be one of {', '.join(known)}, not {name!r}")
    return tomllib.loads((PRESETS / f"{name}.toml").read_text())


def _merge(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Override the settings of a declaration, table by table."""
    merged = dict(base)
    for key, value in overrides.items():
        current = merged.get(key)
        if isinstance(current, Mapping) and isinstance(value, Mapping):
            value = _merge(current, value)
        merged[key] = value
    return merged
