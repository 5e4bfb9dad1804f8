"""The parameters of a request, and the checks of them that Kannel 1.4.5's smsbox makes, in its order and words."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes

Given = dict[str, bytes]
"""Parameters by name, not yet decoded. Of one that is given twice, the first counts."""

HEADERS: Final = "HTTP_X_KANNEL_"
OTHER_NAMES: Final = {"user": "username", "pass": "password", "dlrurl": "dlr-url", "dlrmask": "dlr-mask"}
INTEGER: Final = re.compile(rb"[ \t\r\n]*([+-]?[0-9]{1,9})")
"""As C's `%d` reads one: whatever follows is ignored."""
UNSET: Final = -1
BOUNDS: Final = {
    "DLR-Mask": 66, "MClass": 3, "PID": 255, "RPI": 2, "Alt-DCS": 1, "MWI": 7, "Coding": 2, "Compress": 1,
    "Validity": 10**9, "Deferred": 10**9, "Priority": 3,
}  # fmt: skip
"""The largest value of each whole number, by how smsbox writes its name. All begin at UNSET."""
HEXADECIMAL: Final = re.compile(rb"([0-9a-fA-F]{2})+")
NUMBER_CHARACTERS: Final = re.compile(r"[0-9+ -]+")
MAX_ACCOUNT, MAX_UDH, MIN_URL = 64, 140, 8
ALL_DENIED: Final = "Number(s) has/have been denied by white- and/or black-lists."


class Refused(Exception):
    """A request that is answered with a status and a text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status, self.text = status, text


class Parameters(NamedTuple):
    """What a request asks for, checked as smsbox does."""

    sender: str
    receivers: list[str]
    """Each once, of digits, `+` and `-`."""
    text: bytes
    charset: str
    udh: bytes
    account: str
    category: str
    """Ours, not Kannel's: that of `POST /sms/send`; empty if not given."""
    dlr_url: str
    numbers: dict[str, int]
    """By the names in BOUNDS in small letters; those that are not given are UNSET."""


def login_of(given: Given) -> tuple[str, str]:
    """The name and the password. Raises Refused without them."""
    try:
        name, password = (given[each].decode() for each in ("username", "password"))
    except (KeyError, UnicodeDecodeError):
        name = password = "\0"
    if "\0" in name + password:
        raise Refused(403, "Authorization failed for sendsms")
    return name, password


def given_in(environ: Mapping[str, Any], body: bytes = b"") -> Given:
    """The parameters in the query, in X-Kannel headers, and in the body, which may also be a form. Raises Refused."""
    given = _pairs(environ["QUERY_STRING"].encode("latin-1"))
    for key, value in environ.items():
        if key.startswith(HEADERS):
            name = key.removeprefix(HEADERS).replace("_", "-").lower()
            given.setdefault(_name(name), value.strip().encode("latin-1"))
    content_type, _, rest = environ.get("CONTENT_TYPE", "").lower().partition(";")
    match content_type.strip() if body else "":
        case "":
            return given
        case "application/x-www-form-urlencoded":
            return _pairs(body) | given
        case "text/plain":
            charset = rest.partition("charset=")[2].strip(' "').encode("latin-1")
            return given | {"text": body, "charset": given.get("charset", charset)}
        case "application/octet-stream":
            return given | {"text": body, "coding": given.get("coding", b"1")}
        case _:
            raise Refused(400, "Invalid content-type")


def checked(given: Given, default_sender: str | None) -> Parameters:
    """The checked parameters. Raises Refused."""
    to = given.get("to")
    if not to:
        missing = "Missing receiver number" if to is None else "Empty receiver number not allowed"
        raise Refused(400, f"{missing}, rejected")
    udh = _header_of(given.get("udh", b""))
    receivers = [each for each in dict.fromkeys(_text(to).split()) if NUMBER_CHARACTERS.fullmatch(each)]
    if not receivers:
        raise Refused(400, ALL_DENIED)
    sender = _text(given.get("from", b"")) or default_sender or ""
    if not sender or "\0" in sender:
        raise Refused(400, "Sender missing and no global set, rejected")
    account, dlr_url = _text(given.get("account", b"")), _text(given.get("dlr-url", b""))
    if len(account) > MAX_ACCOUNT or re.search(r"[][\r\n\0]", account):
        raise Refused(400, "Account field misformed or too long, rejected")
    if dlr_url and (len(dlr_url) < MIN_URL or not dlr_url.lower().startswith(("http://", "https://"))):
        raise _misformed("DLR-URL")
    charset, category = (_text(given.get(name, b"")) for name in ("charset", "category"))
    text, numbers = given.get("text", b""), _numbers(given)
    return Parameters(sender, receivers, text, charset, udh, account, category, dlr_url, numbers)


def _header_of(udh: bytes) -> bytes:
    """The user data header: as it is or, which smsbox takes only in a POST's head, in hexadecimal digits."""
    if HEXADECIMAL.fullmatch(udh) and len(udh) != udh[0] + 1:
        udh = bytes.fromhex(udh.decode())
    if udh and len(udh) != udh[0] + 1:
        raise _misformed("UDH")
    if len(udh) > MAX_UDH:
        raise Refused(400, "UDH field is too long, rejected")
    return udh


def _numbers(given: Given) -> dict[str, int]:
    numbers = {}
    for written, largest in BOUNDS.items():
        match = INTEGER.match(given.get(written.lower(), b""))
        number = numbers[written.lower()] = UNSET if match is None else int(match[1])
        if not UNSET <= number <= largest:
            raise _misformed(written)
    return numbers


def _pairs(query: bytes) -> Given:
    given: Given = {}
    for pair in query.split(b"&"):
        name, _, value = pair.replace(b"+", b" ").partition(b"=")
        given.setdefault(_name(unquote_to_bytes(name).decode("latin-1")), unquote_to_bytes(value))
    return given


def _name(name: str) -> str:
    return OTHER_NAMES.get(name, name)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _misformed(field: str) -> Refused:
    return Refused(400, f"{field} field misformed, rejected")
