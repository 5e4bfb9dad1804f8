"""200 requests to `sendsms`, which Kannel's smsbox has answered (tests/peers/record_smsbox.py) and ours answers."""

import json
from pathlib import Path
from typing import NamedTuple

ANSWERS = Path("tests/integration/kannel/smsbox_answers.json")
LOGIN = "username=foo&password=bar"
TO, FROM = "&to=254711000000", "&from=ACME"
SEND = LOGIN + FROM + TO + "&text=Hi"
LONG = "x" * 400
NUMBERS = {
    "dlr-mask": 66,
    "mclass": 3,
    "pid": 255,
    "rpi": 2,
    "alt-dcs": 1,
    "mwi": 7,
    "coding": 2,
    "compress": 1,
    "priority": 3,
}


class Asked(NamedTuple):
    """A request. A login in it is LOGIN, which a test replaces by its own."""

    query: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    """Of a POST; None is a GET."""

    @property
    def name(self) -> str:
        """How it is told from the others."""
        parts = [self.query, *(f"{name}: {value}" for name, value in self.headers), self.body]
        return " | ".join(part for part in parts if part is not None)


class Answered(NamedTuple):
    """An answer."""

    status: int
    text: str


def _logins() -> list[str]:
    right = [f"{user}=foo&{password}=bar" for user in ("username", "user") for password in ("password", "pass")]
    wrong = ["username=foo&password=no", "username=nobody&password=bar", "", "username=foo", "password=bar"]
    wrong += [
        "username=&password=",
        "username=foo&password=",
        "username=foo&password=bar%00",
        "username=foo%20&password=bar",
    ]
    return [each + FROM + TO + "&text=Hi" for each in [*right, *wrong]]


def _receivers() -> list[str]:
    values = ["", "%20", "%2B254711000000", "254-711-000000", "254711000000+254711000001", "254711000000++254711000001"]
    values += ["+254711000000+", "254711000000%0A254711000001", "254711000000+254711000000", "abc", "abc+254711000000"]
    values += ["254711000000,254711000001", "254711000000;", "(254)711000000", "12", "0", "254711000000%00", "+", "a+b"]
    values += ["%2B254711000000+254711000000", "254711000000%09254711000002", "9" * 30]
    values += ["+".join(f"2547110000{n:02d}" for n in range(40))]
    missing = [LOGIN + FROM + "&text=Hi", LOGIN, SEND + "&to=254711000001", LOGIN + FROM + "&To=254711000000&text=Hi"]
    return [LOGIN + FROM + f"&to={each}&text=Hi" for each in values] + missing


def _senders() -> list[str]:
    return [
        LOGIN + TO + f"&text=Hi{each}" for each in ("", "&from=", "&from=&from=ACME", "&from=ACME&from=", "&from=%00")
    ]


def _texts() -> list[str]:
    values = [
        "text=Hi+there",
        "text=%7B%7Bname%7D%7D",
        "text=" + LONG,
        "text=caf%C3%A9",
        "text=%D0%96",
        "text=a%0Ab",
        "",
        "text=",
    ]
    values += ["text=caf%E9&charset=ISO-8859-1", "text=caf%E9&charset=windows-1252", "text=%C6&charset=windows-1251"]
    values += [
        "text=Hi&charset=UTF-8",
        "text=Hi&charset=utf8",
        "text=Hi&charset=ASCII",
        "text=Hi&charset=",
        "text=Hi&charset=NOPE",
    ]
    values += ["text=caf%E9&charset=UTF-8", "text=caf%E9", "text=%04%16&coding=2", "text=%D0%96&coding=2&charset=UTF-8"]
    values += [
        "text=%D0%96&coding=2&charset=utf8",
        "text=Hi&coding=2&charset=UTF-8",
        "text=%04%16&coding=2&charset=UTF-16BE",
    ]
    values += ["text=%01%02%FF&coding=1", "text=%01%02&coding=1&charset=NOPE", "text=" + "x" * 140 + "&coding=1"]
    values += [
        "text=" + "x" * 141 + "&coding=1",
        "text=" + "x" * 1600,
        "text=" + "x" * 1601,
        "text=%04%16%00&coding=2",
        "text=Hi&TEXT=no",
    ]
    return [LOGIN + FROM + TO + f"&{each}" for each in values]


def _headers_of_parts() -> list[str]:
    values = [
        "%05%00%03%01%02%01",
        "050003010201",
        "%05%00%03%01%02",
        "zz",
        "",
        "%00",
        "%8B" + "%00" * 139,
        "%8C" + "%00" * 140,
    ]
    values += ["%05%00%03%01%02%01&coding=0", "%05%00%03%01%02%01&coding=1", "%05%00%03%01%02%01&coding=2", "%05"]
    values += ["%05%00%03%01%02%01&coding=2&charset=UTF-8"]
    return [SEND + f"&udh={each}" for each in values]


def _numbers() -> list[str]:
    asked = []
    for name, largest in NUMBERS.items():
        values = ["-2", "-1", "0", "1", str(largest), str(largest + 1), "", "abc", "+1x", "99999"]
        asked += [SEND + f"&{name}={value.replace('+', '%2B')}" for value in values]
    for name in ("validity", "deferred"):
        asked += [SEND + f"&{name}={value}" for value in ("-2", "-1", "0", "5", "", "abc", "1440")]
    return [*asked, SEND + "&validity=10&deferred=5", SEND + "&validity=5&deferred=10", SEND + "&dlrmask=99"]


def _others() -> list[str]:
    url = "https%3A%2F%2Fexample.com%2Fdlr%3Fid%3D1%26s%3D%25d"
    values = [
        f"dlr-url={url}&dlr-mask=31",
        f"dlrurl={url}&dlrmask=3",
        f"dlr-url={url}",
        "dlr-mask=31",
        "dlr-url=&dlr-mask=31",
    ]
    values += [
        "dlr-url=ftp%3A%2F%2Fexample.com&dlr-mask=1",
        "dlr-url=https%3A%2F%2F",
        "dlr-url=http%3A%2F",
        "dlr-url=short",
    ]
    values += ["dlr-url=http%3A%2F%2Fexample.com%2F&dlr-mask=1", "dlr-url=https%3A%2F%2F10.0.0.1%2F&dlr-mask=1"]
    values += [
        "account=shop",
        "account=" + "a" * 64,
        "account=" + "a" * 65,
        "account=a%5Bb",
        "account=a%0Ab",
        "account=",
    ]
    values += ["smsc=elsewhere", "binfo=x", "meta-data=%3Fsmpp%3FPE_ID%3D1", "unknown=1", "=", "x&&y"]
    return [SEND + f"&{each}" for each in values]


def _posts() -> list[Asked]:
    login = (("X-Kannel-Username", "foo"), ("X-Kannel-Password", "bar"))
    send = (*login, ("X-Kannel-From", "ACME"), ("X-Kannel-To", "254711000000"))
    plain, octets = ("Content-Type", "text/plain"), ("Content-Type", "application/octet-stream")
    return [
        Asked("", (*send, plain), "Hi"),
        Asked("", (*send, ("Content-Type", "text/plain; charset=ISO-8859-1")), "Hi"),
        Asked("", (*send, octets), "Hi"),
        Asked("", (*send, octets, ("X-Kannel-UDH", "050003010201")), "Hi"),
        Asked("", (*send, plain, ("X-Kannel-UDH", "0500030102")), "Hi"),
        Asked("", (*send, plain, ("X-Kannel-DLR-Mask", "99")), "Hi"),
        Asked("", (*send, plain, ("X-Kannel-Priority", "4")), "Hi"),
        Asked("", (*send[:3], plain), "Hi"),
        Asked("", (*send[:2], send[3], plain), "Hi"),
        Asked("", (send[0], *send[2:], plain), "Hi"),
        Asked("", (*send, ("Content-Type", "application/json")), "{}"),
        Asked("", (*send, ("Content-Type", "application/x-www-form-urlencoded")), SEND),
        Asked("", (("Content-Type", "application/x-www-form-urlencoded"),), SEND),
        Asked(SEND, (plain,), "Hi"),
    ]


REQUESTS = [
    *map(Asked, [*_logins(), *_receivers(), *_senders(), *_texts(), *_headers_of_parts(), *_numbers(), *_others()]),
    *_posts(),
]


def recorded() -> dict[str, Answered]:
    """Kannel's answers by the names of the requests."""
    return {name: Answered(*answer) for name, answer in json.loads(ANSWERS.read_text())["answers"].items()}
