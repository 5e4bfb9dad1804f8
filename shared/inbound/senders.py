"""The number of the phone that sent an inbound message, however the carrier writes it: as international digits.

Carriers write numbers with + or 00, as bare digits, or as they are dialed within their country. A number that may be
somebody else's is not guessed: a STOP must never count for another phone than the one that sent it.
"""

import re
from collections.abc import Callable

from shared.inbound.kinds import Inbound
from shared.sms.countries import country_of, country_prefix
from shared.sms.numbering import is_possible, is_valid, numbering_of
from shared.sms.phones import is_phone
from shared.sms.written import plain_digits

_NANP = re.compile(r"[2-9][0-9]{2}[2-9][0-9]{6}")  # of the North American Numbering Plan, without its 1


def sender_number(message: Inbound, country_of_owner: Callable[[], str | None]) -> str:
    """The sender's number as international digits, after a + if the carrier writes one.

    A national number is one of the country of the number that the message was sent to or, if that has none, of its
    owner's. What is none there is read as an international number: some carriers call all numbers national. What cannot
    be read stays as it is; but what the carrier calls national then begins with 0, so that it does not look like an
    international number. Without a country, that is so for all that it calls national.

    Bare digits are read as a mobile number of that country first, unless the carrier says that they are international:
    3235550123 is Californian. Where a 0 or the like is dialled before mobile numbers, that holds only for digits that
    are no valid international number.
    """
    written = plain_digits(message.phone)
    digits = written.removeprefix("+") if written.startswith("+") else written.removeprefix("00")
    if is_phone(digits) and digits != written:
        return f"+{digits}" if written.startswith("+") else digits
    country = _country(message, country_of_owner) if message.national is not False else None
    if country is not None and (own := _without_trunk_prefix(country, written)) is not None:
        return own
    if is_phone(written) and not message.national and (message.national is False or is_possible(written)):
        return written
    if not (written.isascii() and written.isdigit()):
        return message.phone
    country = country or _country(message, country_of_owner)
    numbering = numbering_of(country)
    without_code = written.removeprefix(str(numbering.code))
    if country is not None and written == numbering.national(without_code, only_mobile=True):
        return written
    if (found := numbering.national(written, only_mobile=not message.national)) is not None:
        return found
    if not (message.national and is_phone(written)):
        return message.phone
    return written if country is not None and is_possible(written) else f"0{written}"


def _country(message: Inbound, country_of_owner: Callable[[], str | None]) -> str | None:
    """The country of the number that the message was sent to or, if that has none, of its owner."""
    sent_to = message.sent_to.removeprefix("+")
    is_number = is_phone(sent_to) and is_possible(sent_to)
    return (country_of(country_prefix(sent_to)) if is_number else None) or country_of_owner()


def _without_trunk_prefix(country: str, digits: str) -> str | None:
    """A mobile number of a country in which nothing is dialled before it, as international digits; otherwise None."""
    numbering = numbering_of(country)
    if numbering.code == 1:
        is_one = _NANP.fullmatch(digits) and (is_valid(f"1{digits}") or not is_valid(digits))
        return f"1{digits}" if is_one else None
    if numbering.has_trunk_prefix and (digits.startswith("0") or is_valid(digits)):
        return None
    return numbering.national(digits, only_mobile=True)
