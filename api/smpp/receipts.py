"""The deliver_sm of an event: a receipt in the common format (SMPP 3.4 appendix B), or a message from a phone."""

from enum import IntEnum
from typing import Any, Final

from sqlalchemy import Row

from api.protocols.texts import encoded
from api.smpp.times import short_time
from shared.accounts.smpp_credentials import KEY_PREFIX, Alphabet
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.smpp.constants import INTERMEDIATE, Tag
from shared.carriers.smpp.pdu import MAX_SHORT_MESSAGE, Message, c_string
from shared.events.stream import Event
from shared.lifecycle import EventType, MessageStatus

MAX_PAYLOAD: Final = 64_000
"""Octets."""
RECEIPT: Final = 0x04
"""esm_class of a receipt; of an intermediate notification it is INTERMEDIATE."""
INTERNATIONAL, SHORT_CODE, ALPHANUMERIC = (1, 1), (3, 0), (5, 0)
"""Type of number and numbering plan (§5.2.5)."""
SHORT_CODE_DIGITS: Final = 8
GSM_NETWORK: Final = 3
"""Type of a network_error_code (§5.3.2.31)."""
ON_FAILURE, ON_SUCCESS_ONLY, ON_THE_WAY = 2, 3, 0x10
"""registered_delivery (§5.2.17): the values of its two lowest bits, besides 0 for none and 1 for any final status; and
the bit for intermediate notifications."""


class State(IntEnum):
    """The message_state (§5.2.28); its name is the word in a receipt."""

    ENROUTE = 1
    DELIVRD = 2
    EXPIRED = 3
    DELETED = 4
    UNDELIV = 5
    UNKNOWN = 7
    REJECTD = 8


OF_STATUS: Final = {
    MessageStatus.DELIVERED: State.DELIVRD,
    MessageStatus.UNDELIVERED: State.UNDELIV,
    MessageStatus.FAILED: State.UNDELIV,
    MessageStatus.REJECTED: State.REJECTD,
    MessageStatus.EXPIRED: State.EXPIRED,
    MessageStatus.CANCELED: State.DELETED,
}
"""All other statuses are ENROUTE."""
OF_CODE: Final = {
    "validity_expired": State.EXPIRED,
    "deleted_by_carrier": State.DELETED,
    "unknown_outcome": State.UNKNOWN,
    "rejected_by_carrier": State.REJECTD,
}
"""Of undelivered messages, by the error's code."""
ERRORS: Final = tuple(CATALOGUE)
"""`err` of a receipt is a code's place here, from 1: new codes go to the end of the catalogue."""
RECEIPTS: Final = [EventType(f"message.{status}") for status in (MessageStatus.SENT, *OF_STATUS)]
TYPES: Final = (*RECEIPTS, EventType.MESSAGE_RECEIVED)
"""Events that a bind receives."""


def state_of(status: str, code: str | None) -> State:
    """The state of a message with this status and code of the error catalogue."""
    if status == MessageStatus.UNDELIVERED and code in OF_CODE:
        return OF_CODE[code]
    return OF_STATUS.get(MessageStatus(status), State.ENROUTE)


def error_number(code: str | None) -> int:
    """The number of a code of the error catalogue; 0 for none, and for one of a later release."""
    return ERRORS.index(code) + 1 if code in ERRORS else 0


def is_wanted(status: str, registered: int) -> bool:
    """Whether the submit asked for a receipt with this status."""
    if status not in OF_STATUS:
        return bool(registered & ON_THE_WAY)
    wanted = registered & 3
    if wanted in (ON_FAILURE, ON_SUCCESS_ONLY):
        return (status == MessageStatus.DELIVERED) == (wanted == ON_SUCCESS_ONLY)
    return bool(wanted)


def receipt(event: Event, send: Row[Any]) -> Message:
    """The receipt of an event of a message of a send over SMPP."""
    data = event.data
    code = (data["error_details"] or {}).get("code")
    state, error = state_of(data["status"], code), error_number(code)
    text = (
        f"id:{data['message_id']} sub:001 dlvrd:{int(state == State.DELIVRD):03d} submit date:"
        f"{short_time(send.created_at)} done date:{short_time(event.at)} stat:{state.name} err:{error:03d} text:"
    )
    tlvs: dict[int, bytes] = {
        Tag.RECEIPTED_MESSAGE_ID: c_string(data["message_id"]),
        Tag.MESSAGE_STATE: bytes((state,)),
    }
    if error:
        tlvs[Tag.NETWORK_ERROR_CODE] = bytes((GSM_NETWORK,)) + error.to_bytes(2, "big")
    if "reference" in send.smpp:
        tlvs[Tag.USER_MESSAGE_REFERENCE] = send.smpp["reference"].to_bytes(2, "big")
    esm_class = INTERMEDIATE if state == State.ENROUTE else RECEIPT
    return _between(event, text.encode(), esm_class=esm_class, tlvs=tlvs)


def from_phone(event: Event, alphabet: Alphabet) -> Message:
    """A message from a phone. A long one is a message_payload, whose end is cut off if it does not fit into a PDU."""
    octets, coding = encoded(event.data["message"] or "", alphabet)
    if len(octets) <= MAX_SHORT_MESSAGE:
        return _between(event, octets, data_coding=coding)
    return _between(event, b"", data_coding=coding, tlvs={int(Tag.MESSAGE_PAYLOAD): octets[:MAX_PAYLOAD]})


def delivery_of(event: Event, system_id: str, alphabet: Alphabet) -> Message | None:
    """What a credential gets of an event; None if nothing."""
    if event.type == EventType.MESSAGE_RECEIVED:
        return from_phone(event, alphabet)
    send = event.send
    if send is None or send.smpp is None or send.api_key_id != f"{KEY_PREFIX}{system_id}":
        return None
    return receipt(event, send) if is_wanted(event.data["status"], send.smpp["registered"]) else None


def _between(event: Event, octets: bytes, **more: Any) -> Message:
    """From the phone to the sender ID."""
    phone, sender_id = event.data["phone"] or "", event.data["sender_id"] or ""
    source, destination = (each.encode("latin-1", "replace").decode("latin-1") for each in (phone, sender_id))
    more["source_ton"], more["source_npi"] = numbering_of(phone)
    more["destination_ton"], more["destination_npi"] = numbering_of(sender_id)
    return Message(source, destination, octets, **more)


def numbering_of(address: str) -> tuple[int, int]:
    """The type of number and the numbering plan of an address."""
    if not (address.isascii() and address.isdigit()):
        return ALPHANUMERIC
    return INTERNATIONAL if len(address) > SHORT_CODE_DIGITS else SHORT_CODE
