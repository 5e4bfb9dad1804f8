"""Makes the batches of a page of a group's contacts: who of them gets a message, and what it costs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from shared.contacts.suppressions import listed
from shared.db.encryption_keys import texts_of
from shared.lifecycle import LANES
from shared.prices.price_table import PriceTable
from shared.sends.batch_prices import Chunk, chunks_by_price, chunks_of
from shared.sends.batch_states import BATCH_SIZE
from shared.sends.quiet_hours import by_zone
from shared.sms.countries import country_prefix
from worker.jobs.recipient_limits import RecipientLimits
from worker.sending.placeholders import complete_contacts, compose_page, stored_template


class Page(NamedTuple):
    """The expansion of a group's next contacts."""

    phones: int
    """Contacts that were counted as accepted."""
    suppressed: int
    unfit: int
    """Contacts whose fields do not make a valid message."""
    chunks: list[Chunk]
    reserved: int
    """Credits that were reserved for its contacts, as far as that is known."""
    credits: int
    """Credits that its messages cost."""


def common_page(
    connection: Connection,
    send: Row[Any],
    contacts: Sequence[Row[Any]],
    limits: RecipientLimits | None,
    table: PriceTable,
) -> Page:
    """The page of a send whose contacts all get the same text."""
    contacts = _with_price(send, contacts, table)
    kept = _not_suppressed(connection, send, contacts, limits)
    phones, category = [str(contact.phone) for contact in kept], LANES[send.lane]
    if send.unexpanded_credits is None:
        chunks = chunks_by_price(phones, send.segments, {send.price // send.segments: range(len(phones))}, BATCH_SIZE)
        reserved = len(contacts) * send.price
    else:
        positions = table.prices_of(phones, category).positions(phones)
        chunks = chunks_by_price(phones, send.segments, positions, BATCH_SIZE)
        first_digits = Counter(country_prefix(str(contact.phone)) for contact in contacts)
        dearest = {digits: table.bounds(digits, category)[1] or 0 for digits in first_digits}
        reserved = send.segments * sum(count * dearest[digits] for digits, count in first_digits.items())
    if _is_quiet(send):
        chunks = [part for chunk in chunks for part in chunk.parts(by_zone(chunk.phones), BATCH_SIZE)]
    messages = sum(len(chunk.phones) for chunk in chunks)
    return Page(len(contacts), len(contacts) - messages, 0, chunks, reserved, _cost(chunks))


def _with_price(send: Row[Any], contacts: Sequence[Row[Any]], table: PriceTable) -> Sequence[Row[Any]]:
    """The contacts that were accepted: those whose first digits have a price."""
    if send.unexpanded_credits is None:
        return contacts
    category = LANES[send.lane]
    priced = {
        first_digits
        for first_digits in {country_prefix(str(contact.phone)) for contact in contacts}
        if table.bounds(first_digits, category)[1] is not None
    }
    return [contact for contact in contacts if country_prefix(str(contact.phone)) in priced]


def _cost(chunks: Iterable[Chunk]) -> int:
    return sum(len(chunk.phones) * chunk.price for chunk in chunks)


def personal_page(
    connection: Connection,
    send: Row[Any],
    contacts: Sequence[Row[Any]],
    limits: RecipientLimits | None,
    table: PriceTable,
) -> Page:
    """The page of a send whose text has placeholders."""
    template = stored_template(texts_of(connection).open(send.message, send.id))
    complete = complete_contacts(template, send, _with_price(send, contacts, table))
    kept = _not_suppressed(connection, send, complete, limits)
    prices = table.prices_of([str(contact.phone) for contact in kept], LANES[send.lane])
    fits, credits = compose_page(template, send, kept, prices)
    chunks = chunks_of(fits, BATCH_SIZE)
    if _is_quiet(send):
        chunks = [part for chunk in chunks for part in chunk.parts(by_zone(chunk.phones), BATCH_SIZE)]
    return Page(len(complete), len(complete) - len(kept), len(kept) - len(fits), chunks, credits, credits)


def _is_quiet(send: Row[Any]) -> bool:
    """Whether the send has quiet hours. Then each of its batches is in a single time zone."""
    return send.rules is not None and "quiet" in send.rules


def _not_suppressed(
    connection: Connection, send: Row[Any], contacts: Sequence[Row[Any]], limits: RecipientLimits | None
) -> Sequence[Row[Any]]:
    """The contacts that have not opted out, are at allowed destinations, and are within the recipient limits."""
    phones = [contact.phone for contact in contacts]
    opted_out = listed(connection, send.account_id, phones, LANES[send.lane], send.sender_id) if phones else ()
    if opted_out:
        contacts = [contact for contact in contacts if contact.phone not in opted_out]
    if send.destinations is not None:
        contacts = [contact for contact in contacts if str(contact.phone).startswith(tuple(send.destinations))]
    return contacts if limits is None else limits.within(send, contacts)
