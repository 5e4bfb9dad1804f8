"""Texts with placeholders: composing them for a batch, and for a page of a group's contacts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shared.prices.price_table import PricesOfPhones
from shared.sends.batch_prices import ComposedRecipient
from shared.sends.templates import ComposeProblem, Template, as_priced, compose, parse


@dataclass(frozen=True, slots=True)
class PlaceholderTexts:
    """The texts of a batch: one template, and the values of each position."""

    template: Template
    on_unicode: str
    variables: Sequence[Mapping[str, str]]

    def text(self, position: int) -> tuple[str, str]:
        """The text at a position and its encoding, as they were priced."""
        return as_priced(self.template, self.variables[position], self.on_unicode)


def stored_template(message: str) -> Template:
    """The template of a message with placeholders."""
    template = parse(message)
    assert template is not None, "values without a placeholder"
    return template


def complete_contacts(template: Template, send: Row[Any], contacts: Sequence[Row[Any]]) -> list[Row[Any]]:
    """The contacts that have every value the message needs, but no more of them than were accepted.

    Contacts without a value were left out when the send was accepted. One that got its value since can only replace
    another.
    """
    return [row for row in contacts if template.missing(row.fields or {}) is None][: send.unexpanded]


def compose_page(
    template: Template, send: Row[Any], contacts: Sequence[Row[Any]], prices: PricesOfPhones
) -> tuple[list[ComposedRecipient], int]:
    """Compose the messages of a page of contacts, within the rest of the reserve. Returns them and their credits.

    Contacts without a price are left out.

    Values may have changed since the reserve was made. A message is left out if it is longer now than the longest was
    then, or than the rest of the reserve covers.
    """
    fits: list[ComposedRecipient] = []
    left = send.unexpanded_credits
    for position, contact in enumerate(contacts):
        fields = contact.fields or {}
        message = compose(template, fields, send.on_unicode, send.segments)
        segment_price = prices.of(str(contact.phone))
        if isinstance(message, ComposeProblem) or segment_price is None:
            continue
        segments = message.segmentation.count
        price = segments * segment_price
        if price > left:
            continue
        left -= price
        variables = {name: fields[name] for name in template.names if name in fields}
        fits.append(ComposedRecipient(position, str(contact.phone), segments, price, variables))
    return fits, send.unexpanded_credits - left
