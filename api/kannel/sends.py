"""The body of a send, as `POST /sms/send` and `/sms/send-bulk` have it, of a request's parameters."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from api.accept.schemas import BulkSend, SingleSend
from api.endpoint import load
from api.kannel.parameters import Parameters, Refused
from api.protocols.texts import BadText, Content, content_of
from shared.carriers.smpp.constants import UDH_INDICATOR
from shared.carriers.smpp.pdu import Message
from shared.contacts.charsets import encoding_named
from shared.ids import rfc3339

SCHEMAS: Final = {"single": SingleSend(), "bulk": BulkSend()}
TEXT, OCTETS, UCS2 = 0, 1, 2
DATA_CODINGS: Final = (0, 4, 8)
"""By coding."""
CODECS: Final = {TEXT: "utf-8", UCS2: "utf-16-be"}
"""By coding, of texts whose charset is not given."""
NORMAL_CLASS: Final = 1
BIG_ENDIAN: Final = {"ucs-2", "ucs-2be", "ucs2", "utf-16", "utf16"}
"""Charsets that smsbox knows by these names, without a mark of the order of octets."""
NO_TEXT: Final = "-"
"""Stands for a part's text in the checks of the schema."""


def send_of(asked: Parameters) -> tuple[str, dict[str, Any]]:
    """The kind and the body of the send. Raises Refused and Problem."""
    numbers = asked.numbers
    content = _content(asked)
    for name, usual in (("mclass", (-1, NORMAL_CLASS)), ("mwi", (-1,))):
        if numbers[name] not in usual:
            raise Refused(400, f"{name}: flash messages, message classes and indicators are not supported")
    fields: dict[str, Any] = {
        "sender_id": asked.sender.removeprefix("+"),
        "message": content.text if content.part is None else NO_TEXT,
    }
    phones = list(dict.fromkeys(each.replace("-", "").removeprefix("+") for each in asked.receivers))
    kind = "single" if len(phones) == 1 else "bulk"
    fields |= {"phone": phones[0]} if kind == "single" else {"phones": phones}
    now = datetime.now(UTC)
    for name, field in (("deferred", "send_at"), ("validity", "expires_at")):
        if numbers[name] >= 0:
            fields[field] = rfc3339(now + timedelta(minutes=numbers[name]))
    if asked.category:
        fields["category"] = asked.category
    if asked.account:
        fields["reference"] = asked.account
    if asked.dlr_url and numbers["dlr-mask"] > 0:
        fields["callback_url"] = asked.dlr_url
    body = load(SCHEMAS[kind], fields)
    body |= {"message": content.text, "part": content.part, "over_smpp": content.part and {"registered": 0}}
    return kind, body | {"dlr_mask": numbers["dlr-mask"] if "callback_url" in fields else None}


def _content(asked: Parameters) -> Content:
    coding = asked.numbers["coding"]
    if coding < 0:
        coding = OCTETS if asked.udh else TEXT
    octets = asked.text
    try:
        if coding != OCTETS:
            octets = octets.decode(_codec_of(asked.charset) or CODECS[coding]).encode(CODECS[coding])
        message = Message("", "", asked.udh + octets, data_coding=DATA_CODINGS[coding])
        message.esm_class = UDH_INDICATOR if asked.udh else 0
        return content_of(message, "utf8")
    except (UnicodeError, LookupError):
        raise Refused(400, "Charset or body misformed, rejected") from None
    except BadText as problem:
        raise Refused(400, str(problem)) from None


def _codec_of(charset: str) -> str | None:
    """The codec of a charset; None for none. Raises LookupError."""
    if not charset or charset.lower() in BIG_ENDIAN:
        return CODECS[UCS2] if charset else None
    codec = encoding_named(charset)
    if codec is None:
        raise LookupError(charset)
    return codec
