"""Why a message was not delivered, or is in doubt: the codes of the API in the reader's words."""

from typing import Any, NamedTuple

from flask import Flask
from flask_babel import lazy_gettext

from console.pages.formats import status_label

_ = lazy_gettext


class Explanation(NamedTuple):
    """What a code means, and what helps."""

    title: Any
    meaning: Any = ""
    remedy: Any = ""


EXPLANATIONS: dict[str, Explanation] = {
    "invalid_recipient": Explanation(
        _("Invalid recipient"),
        _("The carrier does not accept the phone number."),
        _("Correct the number, or remove it."),
    ),
    "unknown_subscriber": Explanation(
        _("Unknown subscriber"),
        _("The number is not in use."),
        _("Remove the number from your list."),
    ),
    "not_mobile": Explanation(
        _("Not a mobile phone"),
        _("The number cannot receive SMS; it may be a landline."),
        _("Use a mobile number."),
    ),
    "recipient_blocked": Explanation(
        _("Recipient is blocked"),
        _("The phone number is on the carrier's opt-out or do-not-disturb list."),
        _("Do not send to this number until its owner has opted in with the carrier."),
    ),
    "recipient_opted_out": Explanation(
        _("Opted out with the carrier"),
        _("The carrier says that the person has opted out. The phone number was put on your opt-out list."),
        _("Do not send to this number until its owner has opted in again, for example with START."),
    ),
    "absent_subscriber": Explanation(
        _("Phone not reachable"),
        _("The phone was off or without coverage until the carrier gave up."),
        _("Send again later, with a longer validity."),
    ),
    "handset_error": Explanation(
        _("Phone did not accept it"),
        _("The phone was reached and did not accept the message, for example because its memory was full."),
        _("Send again later."),
    ),
    "invalid_sender": Explanation(
        _("Invalid sender ID"),
        _("The carrier does not accept the sender ID, or not for this destination."),
        _("Use another sender ID, or ask the operator to have it registered with the carrier."),
    ),
    "invalid_message": Explanation(
        _("Invalid message"),
        _("The carrier does not accept the text: its length, a character or its encoding."),
        _("Change the text."),
    ),
    "content_blocked": Explanation(
        _("Content blocked"),
        _("A filter of the carrier or the network refused the content."),
        _("Change the text or its links. If the filter is wrong, ask the operator."),
    ),
    "no_route": Explanation(
        _("No route"),
        _("The carrier does not send to this destination or network."),
        _("Ask the operator to add a carrier that serves this destination."),
    ),
    "rejected_by_carrier": Explanation(
        _("Rejected by the carrier"),
        _("The carrier refused the message permanently and gave no reason."),
        _("Ask the operator, and name the carrier's answer."),
    ),
    "protocol_error": Explanation(
        _("Request refused by the carrier"),
        _("The carrier refused the way the message was submitted, not its content."),
        _("Tell the operator: a setting of the carrier is wrong."),
    ),
    "carrier_account": Explanation(
        _("Carrier refused the operator's account"),
        _("The carrier refused the operator's account because of its credentials or credit."),
        _("Tell the operator, then send again."),
    ),
    "carrier_unavailable": Explanation(
        _("Carrier unavailable"),
        _("The carrier had a fault or was busy, and accepted nothing."),
        _("Send again later."),
    ),
    "throttled": Explanation(
        _("Too fast for the carrier"),
        _("The carrier kept throttling the message for too long."),
        _("Send again later."),
    ),
    "undelivered": Explanation(
        _("Not delivered"),
        _("The carrier could not deliver the message and gave no reason."),
        _("Send again later. If it fails again, remove the number."),
    ),
    "validity_expired": Explanation(
        _("Validity ended at the carrier"),
        _("The carrier could not deliver the message before its validity ended."),
        _("Send again, with a longer validity."),
    ),
    "deleted_by_carrier": Explanation(
        _("Deleted by the carrier"),
        _("The carrier deleted the message before it was delivered."),
        _("Ask the operator."),
    ),
    "unknown_outcome": Explanation(
        _("Unknown outcome"),
        _("The carrier accepted the message and does not know what happened to it."),
        _("It may have arrived. Send it again only if it may arrive twice."),
    ),
    "partly_sent": Explanation(
        _("Partly sent"),
        _("The carrier accepted only some parts of a long message."),
        _("Send it again if the parts that arrived do no harm."),
    ),
    "carrier_error": Explanation(
        _("Carrier error"),
        _("The carrier returned an unknown code."),
        _("Ask the operator what the carrier's answer means."),
    ),
    "suppressed": Explanation(
        _("Recipient has opted out"),
        _("The phone number was on your opt-out list when the message was due to be submitted to the carrier."),
        _("Do not send to this number."),
    ),
    "frequency_capped": Explanation(
        _("Too many messages to the recipient"),
        _("The phone number has reached the cap of this category."),
        _("Send again when the period of the cap has passed."),
    ),
    "expired": Explanation(
        _("Expired"),
        _("The message's validity ended before a carrier accepted it. Its credits were released."),
        _("Send again, with a longer validity."),
    ),
    "canceled": Explanation(
        _("Canceled"),
        _("The send was canceled before this message was submitted."),
        _("Nothing needs to be done."),
    ),
    "no_response": Explanation(
        _("No answer from the carrier"),
        _("The message was submitted and no answer came, so the carrier may or may not have it."),
        _("Wait for a receipt or the end of its validity. Send it again only if it may arrive twice."),
    ),
    "worker_stopped": Explanation(
        _("A worker stopped"),
        _("The process that submitted the message stopped before it could record the answer."),
        _("Wait for a receipt or the end of its validity. Send it again only if it may arrive twice."),
    ),
    "not_sent": Explanation(
        _("Not sent"),
        _("The message was in doubt, and the operator found that the carrier never had it."),
        _("Send again."),
    ),
}


def explained(code: str) -> Explanation:
    """What a code of a message's error means; of a status, its word."""
    return EXPLANATIONS.get(code) or Explanation(status_label(code))


def add_explanations(app: Flask) -> None:
    """Give the templates the filter `explained`."""
    app.jinja_env.filters.update(explained=explained)
