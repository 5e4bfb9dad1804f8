"""The number of the phone that sent an inbound message, however the carrier writes it: as international digits.

Carriers write numbers with + or 00, as bare digits, or as they are dialed within their country. A number that may be
somebody else's is not guessed: a STOP must never count for another phone than the one that sent it.
"""

from collections.abc import Callable

from shared.inbound.kinds import Inbound
from shared.sms.countries import country_of, country_prefix
from shared.sms.numbering import is_possible, numbering_of
from shared.sms.phones import MAX_WRITTEN_LENGTH, SEPARATORS, is_phone


def sender_number(message: Inbound, country_of_owner: Callable[[], str | None]) -> str:
    """The sender's number as international digits, after a + if the carrier writes one.

    A national number is one of the country of the number that the message was sent to or, if that has none, of its
    owner's, which is only then asked for. What is none there is read as an international number: some carriers call all
    numbers national. What cannot be read stays as it is; but what the carrier calls national then begins with 0, so
    that it does not look like an international number. Without a country, that is so for all that it calls national.
    """
    written = message.phone.strip().translate(SEPARATORS) if len(message.phone) <= MAX_WRITTEN_LENGTH else ""
    digits = written.removeprefix("+") if written.startswith("+") else written.removeprefix("00")
    if is_phone(digits) and (digits != written or _is_international(message, digits)):
        return f"+{digits}" if written.startswith("+") else digits
    if not (written.isascii() and written.isdigit()):
        return message.phone
    sent_to = message.sent_to.removeprefix("+")
    country = country_of(country_prefix(sent_to)) if is_phone(sent_to) and is_possible(sent_to) else None
    country = country or country_of_owner()
    found = numbering_of(country).national(written, only_mobile=not message.national)
    if found is not None:
        return found
    if not (message.national and is_phone(written)):
        return message.phone
    return written if country is not None and is_possible(written) else f"0{written}"


def _is_international(message: Inbound, digits: str) -> bool:
    """Whether bare digits are an international number: as the carrier says, or if there can be such a number."""
    return is_possible(digits) if message.national is None else not message.national
