"""Messages with placeholders: `Hi {{name|friend}}, your code is {{code}}`.

    {{name}}            the recipient's value of that name; without one the recipient cannot be sent to
    {{name|default}}    the value, or the default where there is none or it is empty
    {{{{name}}}}        the text {{name}} itself

A name is up to 32 letters, digits and low lines. Whatever else has braces in it is text, as it is. Values are put in as
they are: braces in a value are text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shared.contacts.fields import FIELD_NAME
from shared.sms.gsm7 import is_gsm7
from shared.sms.segments import Segmentation, segment, text_problem, transliterate

__all__ = ["MAX_PLACEHOLDERS", "Composed", "Template", "Unfit", "as_priced", "compose", "parse"]

MAX_PLACEHOLDERS = 10
"""Different ones in one message."""

_INSIDE = rf" *({FIELD_NAME}) *(?:\|([^{{}}]*))?"
_PLACEHOLDER = re.compile(rf"\{{\{{(?:\{{\{{({_INSIDE})\}}\}}|{_INSIDE})\}}\}}")


class Placeholder(NamedTuple):
    """A place for a value; without a default the value is required."""

    name: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Template:
    """A message, cut at its placeholders."""

    parts: tuple[str | Placeholder, ...]

    @property
    def placeholders(self) -> list[Placeholder]:
        """The placeholders in order, as often as they are there."""
        return [part for part in self.parts if isinstance(part, Placeholder)]

    @property
    def different(self) -> list[Placeholder]:
        """Every placeholder, once."""
        return list(dict.fromkeys(self.placeholders))

    @property
    def names(self) -> list[str]:
        """Every name, once."""
        return list(dict.fromkeys(placeholder.name for placeholder in self.placeholders))

    def missing(self, variables: Mapping[str, str]) -> str | None:
        """The first name that has no value and no default; None when the message can be made."""
        for placeholder in self.placeholders:
            if placeholder.default is None and placeholder.name not in variables:
                return placeholder.name
        return None

    def render(self, variables: Mapping[str, str]) -> str:
        """The text for one recipient. Raises KeyError for a value that is `missing`."""
        return "".join(part if isinstance(part, str) else _value(part, variables) for part in self.parts)


class Composed(NamedTuple):
    """A message for one recipient, as it will be sent."""

    text: str
    segmentation: Segmentation


class Unfit(NamedTuple):
    """Why a recipient cannot be sent a message: a code and a sentence."""

    code: str
    detail: str


def parse(message: str) -> Template | None:
    """The template of a message; None where it has no placeholder and nothing to unescape, and is sent as it is."""
    if "{{" not in message:
        return None
    parts: list[str | Placeholder] = []
    end = 0
    for found in _PLACEHOLDER.finditer(message):
        escaped, _, _, name, default = found.groups()
        parts.append(message[end : found.start()])
        parts.append(f"{{{{{escaped}}}}}" if escaped is not None else Placeholder(name, default))
        end = found.end()
    return Template((*parts, message[end:])) if end else None


def compose(
    template: Template, variables: Mapping[str, str], on_unicode: str, most_segments: int | None
) -> Composed | Unfit:
    """The message for one recipient, treated as `on_unicode` asks, or why there is none."""
    missing = template.missing(variables)
    if missing is not None:
        return Unfit("missing_variable", f"It has no `{missing}`, and the message gives no default.")
    text = template.render(variables)
    if on_unicode == "transliterate":
        text = transliterate(text)
    problem = text_problem(text)
    if problem is not None:
        return Unfit(*problem)
    segmentation = segment(text)
    if segmentation.encoding == "ucs2" and on_unicode == "reject":
        return Unfit("unicode_rejected", "With its values the message has characters that GSM-7 does not have.")
    if most_segments is not None and segmentation.count > most_segments:
        taken = f"With its values the message takes {segmentation.count} segments"
        return Unfit("too_many_segments", f"{taken}; at most {most_segments} are wanted.")
    return Composed(text, segmentation)


def as_priced(template: Template, variables: Mapping[str, str], on_unicode: str) -> tuple[str, str]:
    """The text for one recipient and its encoding, as `compose` priced them. Raises KeyError for a missing value."""
    text = template.render(variables)
    if on_unicode == "transliterate":
        text = transliterate(text)
    return text, "gsm7" if is_gsm7(text) else "ucs2"


def _value(placeholder: Placeholder, variables: Mapping[str, str]) -> str:
    if placeholder.default is None:
        return variables[placeholder.name]
    return variables.get(placeholder.name) or placeholder.default
