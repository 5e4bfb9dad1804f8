"""Messages that differ by recipient, in a worker: their texts, and the expansion of a group that gets them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row

from shared.sends.placeholder_batches import Fit
from shared.sends.templates import Template, Unfit, as_priced, compose, parse


@dataclass(frozen=True, slots=True)
class PlaceholderTexts:
    """The messages of a slice: one template, and the values of each place."""

    template: Template
    on_unicode: str
    variables: Sequence[Mapping[str, str]]

    def text(self, position: int) -> tuple[str, str]:
        """A place's text and its encoding, as they were priced."""
        return as_priced(self.template, self.variables[position], self.on_unicode)


def placeholder_texts(message: str, on_unicode: str, variables: Sequence[Mapping[str, str]]) -> PlaceholderTexts:
    """The messages of a slice whose batch has values for its recipients."""
    return PlaceholderTexts(template_of(message), on_unicode, variables)


def template_of(message: str) -> Template:
    """The template of a send whose texts differ."""
    template = parse(message)
    assert template is not None, "values without a placeholder"
    return template


class Composition(NamedTuple):
    """Contacts of a page that get a message, how many do not because of their values, and what the messages cost."""

    fits: list[Fit]
    unfit: int
    credits: int


def complete_contacts(template: Template, send: Row[Any], contacts: Sequence[Row[Any]]) -> list[Row[Any]]:
    """The contacts that have every value which the message needs, and no more than were accepted.

    The others were told of and left out at the acceptance. A contact that got its value since then takes the place of
    another at most.
    """
    return [row for row in contacts if template.missing(row.fields or {}) is None][: send.unexpanded]


def compose_page(template: Template, send: Row[Any], contacts: Sequence[Row[Any]]) -> Composition:
    """Make the messages of a page of contacts, within what is left of the send's reserve.

    The reserve was made by the values of then: a message that has become longer since than the longest was, or than
    what is left, is not sent.
    """
    fits: list[Fit] = []
    left = send.unexpanded_credits
    for position, contact in enumerate(contacts):
        fields = contact.fields or {}
        made = compose(template, fields, send.on_unicode, send.segments)
        if isinstance(made, Unfit) or min(made.segmentation.count, send.price) > left:
            continue
        left -= min(made.segmentation.count, send.price)
        variables = {name: fields[name] for name in template.names if name in fields}
        fits.append(Fit(position, str(contact.phone), made.segmentation.count, variables))
    return Composition(fits, len(contacts) - len(fits), send.unexpanded_credits - left)
