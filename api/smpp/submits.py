"""A submit_sm or data_sm becomes a send to one phone, accepted as the HTTP API accepts one.

The response comes after the commit, and its message_id is the id of `GET /messages/{id}`. Submits of all binds of an
account that arrive together share a commit (api/commit/group_commit.py).
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import orjson

from api.accept.accept import PendingSend, accept
from api.accept.schemas import SingleSend
from api.auth.tokens import Caller
from api.endpoint import load
from api.idempotency import IdempotentResponse, Key, key_of
from api.problems import Problem, invalid
from api.protocols.texts import BadText, content_of
from api.schemas.examples import PHONE as EXAMPLE_PHONE
from api.services import Services
from api.smpp.errors import RefusedPdu
from api.smpp.times import read_time
from shared.accounts.smpp_credentials import Credential
from shared.carriers.smpp.constants import Status, Tag
from shared.carriers.smpp.pdu import Message, c_string, has_broken_rest, read_message
from shared.ids import rfc3339
from shared.lifecycle import Category
from shared.sms.phones import PHONE
from shared.sms.segments import text_problem

IDEMPOTENCY_TAG: Final = 0x1600
"""The vendor parameter with an idempotency key: regulators use 0x1400 to 0x1402."""
VENDOR_TAGS: Final = range(0x1400, 0x4000)
"""Parameters that the standard leaves to carriers (§5.3.2)."""
MAX_TLVS, MAX_TLV_OCTETS = 16, 255
CATEGORIES: Final = (None, Category.MARKETING, None, Category.AUTHENTICATION)
"""By priority_flag (§5.2.14); None: the default. 0 is what clients send that do not set one."""
ALPHANUMERIC, NUMBERS = 5, (0, 1, 2)
"""Types of number (§5.2.5). Kannel calls every number without a plus sign national, 2, unless it is told otherwise; its
digits begin with the country code all the same."""
PATH: Final = "/smpp/submit"
"""Of idempotency keys."""
NO_TEXT: Final = "-"
"""Stands for a part's text in the checks of the schema."""
SINGLE = SingleSend()

Submit = tuple[dict[str, Any], Key | None]
"""A submit that is well-formed: the body of its send, and its idempotency key."""


def read_submit(command: int, pdu_body: bytes, credential: Credential, caller: Caller) -> Submit:
    """Read a submit_sm or data_sm. Raises Malformed, RefusedPdu or Problem."""
    message = read_message(command, pdu_body)
    if has_broken_rest(pdu_body, message):
        raise RefusedPdu(Status.ESME_RINVOPTPARSTREAM)
    try:
        content = content_of(message, credential.alphabet)
    except BadText as problem:
        raise RefusedPdu(Status.ESME_RSUBMITFAIL, str(problem)) from None
    sender = sender_of(message.source, message.source_ton, credential)
    phone, text = _phone_of(message), content.text if content.part is None else NO_TEXT
    options = _options_of(message) if message.priority or message.schedule or message.validity else None
    if options or PHONE.fullmatch(phone) is None or text_problem(text):
        body = load(SINGLE, {"sender_id": sender, "phone": phone, "message": text, **(options or {})})
    else:
        body = {**_without_options(sender), "phone": phone}
    body["message"], body["part"] = content
    body["over_smpp"] = smpp = {"registered": message.registered_delivery}
    return body, _read_tlvs(message, smpp, caller) if message.tlvs else None


@lru_cache(1000)
def _without_options(sender: str) -> dict[str, Any]:
    """The body of a submit without options, whose phone and text are checked already. Not to be changed."""
    return load(SINGLE, {"sender_id": sender, "phone": EXAMPLE_PHONE, "message": NO_TEXT})


def _read_tlvs(message: Message, smpp: dict[str, Any], caller: Caller) -> Key | None:
    """Add what the optional parameters say to `smpp`. Returns the idempotency key that they give."""
    reference = message.tlvs.get(Tag.USER_MESSAGE_REFERENCE)
    if reference is not None:
        smpp["reference"] = int.from_bytes(reference[:2], "big")
    if tlvs := _regulators_of(message):
        smpp["tlvs"] = tlvs
    return _key_of(message, caller)


def _regulators_of(message: Message) -> dict[str, str]:
    """The parameters for regulators, for the carriers that want them: octets in hex, by tag."""
    given = {tag: value for tag, value in message.tlvs.items() if tag in VENDOR_TAGS and tag != IDEMPOTENCY_TAG}
    if len(given) > MAX_TLVS or any(len(value) > MAX_TLV_OCTETS for value in given.values()):
        text = f"At most {MAX_TLVS} vendor parameters of {MAX_TLV_OCTETS} octets are passed on."
        raise RefusedPdu(Status.ESME_RINVPARLEN, text)
    return {str(tag): value.hex() for tag, value in given.items()}


def sender_of(source: str, type_of_number: int, credential: Credential) -> str:
    """The sender ID that a source address means."""
    if not source:
        return credential.default_sender or ""
    return source.removeprefix("+") if type_of_number != ALPHANUMERIC else source


def _phone_of(message: Message) -> str:
    if message.destination_ton not in NUMBERS:
        raise RefusedPdu(Status.ESME_RINVDSTTON, "Use an international number, with TON 1, 0 or 2.")
    return message.destination.removeprefix("+")


def _options_of(message: Message) -> dict[str, Any]:
    """The optional fields of the send that the submit sets."""
    if message.priority >= len(CATEGORIES):
        raise RefusedPdu(Status.ESME_RINVPRTFLG, "A priority_flag is 0 to 3.")
    options: dict[str, Any] = {}
    if (category := CATEGORIES[message.priority]) is not None:
        options["category"] = category
    now = datetime.now(UTC)
    for field, value in (("send_at", message.schedule), ("expires_at", message.validity)):
        try:
            moment = read_time(value, now)
        except (ValueError, OverflowError) as error:
            raise invalid([{"pointer": f"/{field}", "code": "invalid_time", "detail": str(error)}]) from None
        if moment is not None:
            options[field] = rfc3339(moment)
    return options


def _key_of(message: Message, caller: Caller) -> Key | None:
    """The idempotency key. Its fingerprint is made of what came: relative times differ each time."""
    given = message.tlvs.get(IDEMPOTENCY_TAG)
    if given is None:
        return None
    content = {
        "from": message.source,
        "to": message.destination,
        "text": message.short_message.hex(),
        "options": [message.data_coding, message.esm_class, message.priority, message.schedule, message.validity],
        "receipt": message.registered_delivery,
        "tlvs": {str(tag): value.hex() for tag, value in message.tlvs.items() if tag != IDEMPOTENCY_TAG},
    }
    return key_of(caller, PATH, given.rstrip(b"\0").decode("latin-1"), content)


def accept_submit(
    services: Services, command: int, pdu_body: bytes, credential: Credential, caller: Caller
) -> IdempotentResponse | PendingSend:
    """Accept a submit_sm or data_sm, as `accept` does. Raises Malformed, RefusedPdu and Problem."""
    submit = read_submit(command, pdu_body, credential, caller)
    if caller.account_id in services.tokens.revocations().accounts:
        raise Problem("account_suspended", "This account may not use the service at the moment.")
    return accept(services, caller, "single", *submit)


def response_to(accepted: IdempotentResponse) -> bytes:
    """The body of the submit_sm_resp: the message id."""
    return c_string(orjson.loads(accepted.body)["message_id"])
