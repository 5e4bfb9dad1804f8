"""Maps the error codes of carriers, and our own, to the codes of the catalogue.

A message stores the carrier's code as received; its catalogue code is derived when it is read, so a mapping added later
also applies to older messages. Codes specific to one carrier are mapped by its setting `error_codes` when received, and
stored as `code=carrier_code`.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.smpp.constants import Status
from shared.lifecycle import MessageStatus

SEPARATOR: Final = "="
"""Separates the catalogue code and the carrier's code; stored codes contain only letters, digits and `_.:-`."""
OPTED_OUT: Final = "recipient_opted_out"
"""The carrier says that the person has opted out. The phone joins the account's opt-out list with that result."""
WITHOUT_CARRIER: Final = frozenset({"suppressed", "frequency_capped", "expired", "canceled"})
"""Codes of messages that no carrier was involved in."""
OWN_CODES: Final = WITHOUT_CARRIER | {
    "no_response",
    "worker_stopped",
    "not_sent",
    "partly_sent",
    "not_in_alphabet",
    "invalid_sender",
    "unreadable_answer",
}
"""Codes that this service stores itself, without one from the carrier."""

_SMPP: Final[dict[str, tuple[Status, ...]]] = {
    "invalid_recipient": (Status.ESME_RINVDSTADR, Status.ESME_RINVDSTTON, Status.ESME_RINVDSTNPI),
    "invalid_sender": (Status.ESME_RINVSRCADR, Status.ESME_RINVSRCTON, Status.ESME_RINVSRCNPI),
    "invalid_message": (Status.ESME_RINVMSGLEN, Status.ESME_RINVESMCLASS),
    "throttled": (Status.ESME_RTHROTTLED, Status.ESME_RMSGQFUL),
    "carrier_unavailable": (
        Status.ESME_RSYSERR,
        Status.ESME_RSUBMITFAIL,
        Status.ESME_RX_T_APPN,
        Status.ESME_RDELIVERYFAILURE,
        Status.ESME_RUNKNOWNERR,
    ),
    "carrier_account": (
        Status.ESME_RINVBNDSTS,
        Status.ESME_RBINDFAIL,
        Status.ESME_RINVPASWD,
        Status.ESME_RINVSYSID,
        Status.ESME_RINVSYSTYP,
    ),
    "rejected_by_carrier": (Status.ESME_RX_P_APPN, Status.ESME_RX_R_APPN),
}
"""SMPP 3.4 §5.1.3; every other status is a `protocol_error`."""

_RESPONSES: Final[dict[str, str]] = {
    **{status.name: "protocol_error" for status in Status if status is not Status.ESME_ROK},
    **{status.name: code for code, statuses in _SMPP.items() for status in statuses},
    "invalid_destination": "invalid_recipient",
    "system_error": "carrier_unavailable",
    "not_in_alphabet": "invalid_message",
    "part_needs_smpp": "invalid_message",
    "unreadable_answer": "no_response",
    "in_doubt": "no_response",
    "rejected": "rejected_by_carrier",
    "failed": "carrier_unavailable",
    "http_401": "carrier_account",
    "http_402": "carrier_account",
    "http_403": "carrier_account",
    "http_408": "no_response",
    "http_429": "throttled",
}
"""Responses to a submit: SMPP statuses, codes of the simulator and of our drivers, HTTP statuses (RFC 9110 §15)."""
_HTTP: Final = re.compile(r"http_([345])[0-9]{2}", re.ASCII)
_HTTP_CLASSES: Final = {"3": "carrier_unavailable", "4": "rejected_by_carrier", "5": "no_response"}

_RECEIPTS: Final[dict[str, str]] = {
    "absentsubscriber": "absent_subscriber",
    "canceled": "deleted_by_carrier",
    "deleted": "deleted_by_carrier",
    "expired": "validity_expired",
    "failed": "undelivered",
    "rejectd": "rejected_by_carrier",
    "rejected": "rejected_by_carrier",
    "undeliv": "undelivered",
    "undeliverable": "undelivered",
    "unknown": "unknown_outcome",
}
"""Statuses in receipts, in lower case: message_state (SMPP 3.4 §5.2.28, appendix B), and those of HTTP carriers."""

_WITHOUT_CODE: Final = {
    MessageStatus.IN_DOUBT: "no_response",
    MessageStatus.REJECTED: "suppressed",
    MessageStatus.FAILED: "carrier_error",
    MessageStatus.CANCELED: "canceled",
    MessageStatus.EXPIRED: "expired",
    MessageStatus.UNDELIVERED: "undelivered",
}
"""The code of a message without a stored one, by status. Messages with other statuses have no error."""
WITH_ERROR: Final = frozenset(_WITHOUT_CODE)
"""Statuses of messages with an error."""


def with_code(carrier_code: str, error_codes: Mapping[str, str]) -> str:
    """A carrier's code as stored: prefixed with a catalogue code if the carrier's `error_codes` map it.

    A receipt's `UNDELIV:042` is looked up as a whole, then as `042` and `42`, then as `UNDELIV`. The state may contain
    colons.
    """
    word, _, number = carrier_code.rpartition(":")
    for name in (carrier_code, number, number.lstrip("0"), word, *carrier_code.split(":", 1)):
        if name in error_codes:
            return f"{error_codes[name]}{SEPARATOR}{carrier_code}"
    return carrier_code


def says_opted_out(stored: str | None) -> bool:
    """Whether a stored error is a carrier's answer that the person has opted out."""
    return stored is not None and stored.partition(SEPARATOR)[0] == OPTED_OUT


def unknown_codes(error_codes: Mapping[str, str]) -> list[str]:
    """The values of a carrier's `error_codes` that are not in the catalogue."""
    return sorted(set(error_codes.values()) - set(CATALOGUE))


def code_of(status: MessageStatus | str, stored: str | None) -> str | None:
    """The catalogue code of a message with this status and stored error; None if it has no error."""
    default = _WITHOUT_CODE.get(MessageStatus(status))
    if default is None or stored is None:
        return default
    declared, separator, _ = stored.partition(SEPARATOR)
    if separator and declared in CATALOGUE:
        return declared
    word = stored.partition(":")[0]
    if status == MessageStatus.UNDELIVERED:
        mapped = _RECEIPTS.get(word.lower()) or (word if word in CATALOGUE else None)
    else:
        mapped = _RESPONSES.get(word) or (word if word in CATALOGUE else None)
    http = _HTTP.fullmatch(stored)
    return mapped or (_HTTP_CLASSES[http[1]] if http else "carrier_error")


def carrier_code_of(status: MessageStatus | str, stored: str | None) -> str | None:
    """The carrier's code as received; None if it gave none."""
    own_codes = OWN_CODES if status != MessageStatus.UNDELIVERED else {"partly_sent"}
    if stored is None or stored in own_codes:
        return None
    declared, separator, carrier_code = stored.partition(SEPARATOR)
    return carrier_code if separator and declared in CATALOGUE else stored


def error_of(status: MessageStatus | str, stored: str | None, carrier: str | None) -> dict[str, Any] | None:
    """A message's error as returned by the API: code, permanent, carrier, carrier_code and text; None without one."""
    code = code_of(status, stored)
    if code is None:
        return None
    entry = CATALOGUE[code]
    return {
        "code": code,
        "permanent": entry.permanent,
        "carrier": None if code in WITHOUT_CARRIER else carrier,
        "carrier_code": carrier_code_of(status, stored),
        "text": entry.meaning,
    }
