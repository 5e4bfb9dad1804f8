"""The error codes of messages, to which shared/carriers/error_codes.py maps the codes of all carriers."""

from typing import Final, NamedTuple


class MessageError(NamedTuple):
    """The fixed properties of an error. `permanent`: the same message would fail again."""

    permanent: bool
    title: str
    meaning: str
    remediation: str


CATALOGUE: Final[dict[str, MessageError]] = {
    "invalid_recipient": MessageError(
        True, "Invalid recipient", "The carrier does not accept the phone number.", "Correct the number, or remove it."
    ),
    "unknown_subscriber": MessageError(
        True, "Unknown subscriber", "The number is not in use.", "Remove the number from your list."
    ),
    "not_mobile": MessageError(
        True, "Not a mobile phone", "The phone number cannot receive SMS; it may be a landline.", "Use a mobile number."
    ),
    "recipient_blocked": MessageError(
        True,
        "Recipient is blocked",
        "The phone number is on the carrier's opt-out or do-not-disturb list.",
        "Do not send to this phone number until its owner has opted in with the carrier.",
    ),
    "recipient_opted_out": MessageError(
        True,
        "Opted out with the carrier",
        "The carrier says that the person has opted out. The phone number was put on your opt-out list.",
        "Do not send to this phone number until its owner has opted in again, for example with START.",
    ),
    "absent_subscriber": MessageError(
        False,
        "Phone not reachable",
        "The phone was off or without coverage until the carrier gave up.",
        "Send again later, with a longer validity.",
    ),
    "handset_error": MessageError(
        False,
        "Phone did not accept it",
        "The phone was reached and did not accept the message, for example because its memory was full.",
        "Send again later.",
    ),
    "invalid_sender": MessageError(
        True,
        "Invalid sender ID",
        "The carrier does not accept the sender ID, or not for this destination.",
        "Use another sender ID, or ask the operator to have it registered with the carrier.",
    ),
    "invalid_message": MessageError(
        True,
        "Invalid message",
        "The carrier does not accept the text: its length, a character or its encoding.",
        "Change the text.",
    ),
    "content_blocked": MessageError(
        True,
        "Content blocked",
        "A filter of the carrier or the network refused the content.",
        "Change the text or its links. If the filter is wrong, ask the operator.",
    ),
    "no_route": MessageError(
        True,
        "No route",
        "The carrier does not send to this destination or network.",
        "Ask the operator to add a carrier that serves this destination.",
    ),
    "rejected_by_carrier": MessageError(
        True,
        "Rejected by the carrier",
        "The carrier refused the message permanently and gave no reason.",
        "Ask the operator, and name the carrier's code.",
    ),
    "protocol_error": MessageError(
        True,
        "Request refused by the carrier",
        "The carrier refused how the message was submitted, not what it says.",
        "Tell the operator: a setting of the carrier is wrong.",
    ),
    "carrier_account": MessageError(
        False,
        "Carrier refused the operator's account",
        "The carrier refused the operator's account because of its credentials or credit.",
        "Tell the operator, then send again.",
    ),
    "carrier_unavailable": MessageError(
        False, "Carrier unavailable", "The carrier had a fault or was busy, and accepted nothing.", "Send again later."
    ),
    "throttled": MessageError(
        False, "Too fast for the carrier", "The carrier kept throttling the message for too long.", "Send again later."
    ),
    "undelivered": MessageError(
        False,
        "Not delivered",
        "The carrier could not deliver the message and gave no reason.",
        "Send again later. If it fails again, remove the number.",
    ),
    "validity_expired": MessageError(
        False,
        "Validity ended at the carrier",
        "The carrier could not deliver the message before its validity ended.",
        "Send again, with a longer validity.",
    ),
    "deleted_by_carrier": MessageError(
        False, "Deleted by the carrier", "The carrier deleted the message before it was delivered.", "Ask the operator."
    ),
    "unknown_outcome": MessageError(
        False,
        "Unknown outcome",
        "The carrier accepted the message and does not know what happened to it.",
        "It may have arrived. Send it again only if it may arrive twice.",
    ),
    "partly_sent": MessageError(
        False,
        "Partly sent",
        "The carrier accepted only some parts of a long message.",
        "Send it again if the parts that arrived do no harm.",
    ),
    "carrier_error": MessageError(
        False,
        "Carrier error",
        "The carrier returned an unknown code.",
        "Ask the operator what the carrier's code means.",
    ),
    "suppressed": MessageError(
        True,
        "Recipient has opted out",
        "The phone number was on your opt-out list when the message was due to be submitted to the carrier.",
        "Do not send to this phone number.",
    ),
    "frequency_capped": MessageError(
        False,
        "Too many messages to the recipient",
        "The phone number has reached the cap of this category.",
        "Send again when the period of the cap has passed.",
    ),
    "expired": MessageError(
        False,
        "Expired",
        "The message's validity ended before a carrier accepted it. Its credits were released.",
        "Send again, with a longer validity.",
    ),
    "canceled": MessageError(
        False, "Canceled", "The send was canceled before this message was submitted.", "Nothing needs to be done."
    ),
    "no_response": MessageError(
        False,
        "No answer from the carrier",
        "The message was submitted and no answer came, so the carrier may or may not have it.",
        "Wait for a receipt or the end of its validity. Send it again only if it may arrive twice.",
    ),
    "worker_stopped": MessageError(
        False,
        "A worker stopped",
        "The process that submitted the message stopped before it could record the answer.",
        "Wait for a receipt or the end of its validity. Send it again only if it may arrive twice.",
    ),
    "not_sent": MessageError(
        False,
        "Not sent",
        "The message was in doubt, and the operator found that the carrier never had it.",
        "Send again.",
    ),
}
"""Every code, in the order in which they are listed."""
