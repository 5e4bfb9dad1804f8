"""Messages with placeholders: `Hi {{name|friend}}, your code is {{code}}`.

    {{name}}            the recipient's value of that name; a recipient without one is rejected
    {{name|default}}    the value, or the default if there is none or it is empty
    {{{{name}}}}        the text {{name}} itself

A name has up to 32 letters, digits and underscores. All other braces are text, also those in values.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shared.contacts.fields import FIELD_NAME
from shared.sms.gsm7 import is_gsm7
from shared.sms.segments import Segmentation, segment, text_problem, transliterate

MAX_PLACEHOLDERS = 10
"""Different placeholders in one message."""

_INSIDE = rf" *({FIELD_NAME}) *(?:\|([^{{}}]*))?"
_PLACEHOLDER = re.compile(rf"\{{\{{(?:\{{\{{({_INSIDE})\}}\}}|{_INSIDE})\}}\}}")


class Placeholder(NamedTuple):
    """A placeholder for a value, which is required if there is no default."""

    name: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Template:
    """A message, cut at its placeholders."""

    parts: tuple[str | Placeholder, ...]

    @property
    def placeholders(self) -> list[Placeholder]:
        """The placeholders in order, with repetitions."""
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
        """The first name without a value or a default; None if the message can be composed."""
        for placeholder in self.placeholders:
            if placeholder.default is None and placeholder.name not in variables:
                return placeholder.name
        return None

    def render(self, variables: Mapping[str, str]) -> str:
        """The text for one recipient. Raises KeyError if a value is `missing`."""
        return "".join(part if isinstance(part, str) else _value(part, variables) for part in self.parts)


class Composed(NamedTuple):
    """A message to one recipient, as it will be sent."""

    text: str
    segmentation: Segmentation


class ComposeProblem(NamedTuple):
    """Why a recipient gets no message: a code and a sentence."""

    code: str
    detail: str


def parse(message: str) -> Template | None:
    """The template of a message; None if it has no placeholder and nothing to unescape."""
    if "{{" not in message:
        return None
    parts: list[str | Placeholder] = []
    end = 0
    for match in _PLACEHOLDER.finditer(message):
        escaped, _, _, name, default = match.groups()
        parts.append(message[end : match.start()])
        parts.append(f"{{{{{escaped}}}}}" if escaped is not None else Placeholder(name, default))
        end = match.end()
    return Template((*parts, message[end:])) if end else None


def escaped(text: str) -> str:
    """The message whose text is this one, whatever braces it has."""
    return _PLACEHOLDER.sub(lambda match: f"{{{{{match[0]}}}}}", text) if "{{" in text else text


def compose(
    template: Template, variables: Mapping[str, str], on_unicode: str, max_segments: int | None
) -> Composed | ComposeProblem:
    """The message to one recipient, treated according to `on_unicode`, or why there is none."""
    missing = template.missing(variables)
    if missing is not None:
        return ComposeProblem("missing_variable", f"It has no `{missing}`, and the message gives no default.")
    text = template.render(variables)
    if on_unicode == "transliterate":
        text = transliterate(text)
    problem = text_problem(text)
    if problem is not None:
        return ComposeProblem(*problem)
    segmentation = segment(text)
    if segmentation.encoding == "ucs2" and on_unicode == "reject":
        return ComposeProblem(
            "unicode_rejected", "With its values the message has characters that GSM-7 does not have."
        )
    if max_segments is not None and segmentation.count > max_segments:
        taken = f"With its values the message takes {segmentation.count} segments"
        return ComposeProblem("too_many_segments", f"{taken}; at most {max_segments} are allowed.")
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
