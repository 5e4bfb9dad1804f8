"""How an account's verifications work: the form of codes, how long they are valid, how often they are sent."""

import re
from collections.abc import Mapping
from typing import Any, Final

from shared.accounts.refused import Refused
from shared.sms.segments import text_problem

NUMBERS: Final = {
    "code_digits": (6, 4, 8),
    "valid_minutes": (10, 1, 60),
    "max_checks": (5, 1, 10),
    "max_sends": (5, 1, 10),
    "pause_seconds": (30, 0, 600),
}
"""Settings: what is usual, the least and the most. Each pause before a code is sent again is twice the last one."""
MAX_TEXT_LENGTH = 300
LANGUAGE = re.compile("[a-z]{2,3}", re.ASCII)
PLACEHOLDERS = re.compile(r"\{\{(?:code|name)\}\}")
TEXTS: Final = {
    "en": "{{code}} is your {{name}} code. Do not share it.",
    "de": "{{code}} ist Ihr Code für {{name}}. Geben Sie ihn nicht weiter.",
    "es": "{{code}} es tu clave de {{name}}. No la compartas.",
    "fr": "{{code}} est votre code {{name}}. Ne le partagez pas.",
    "sw": "{{code}} ni nambari yako ya {{name}}. Usimpe mtu yeyote.",
}
"""The usual texts by language, each one segment in GSM-7."""


def settings_of(stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings in effect: the account's own, and the usual ones for the rest. `texts` are the account's own."""
    usual: dict[str, Any] = {name: number[0] for name, number in NUMBERS.items()}
    return {**usual, "texts": {}, **(stored or {})}


def check_settings(values: Any) -> None:
    """Check settings of an account, which may be incomplete. Raises Refused."""
    if not isinstance(values, dict):
        raise Refused('The settings of verifications are an object, such as {"max_sends": 3}.')
    unknown = sorted(values.keys() - {*NUMBERS, "texts"})
    if unknown:
        raise Refused(f"There is no setting {unknown[0][:40]!r}. Use {', '.join(NUMBERS)} and texts.")
    for name, (usual, least, most) in NUMBERS.items():
        value = values.get(name, usual)
        if type(value) is not int or not least <= value <= most:
            raise Refused(f"`{name}` is a whole number from {least} to {most}.")
    texts = values.get("texts", {})
    if not isinstance(texts, dict) or not all(LANGUAGE.fullmatch(language) for language in texts):
        raise Refused("`texts` is an object of texts by language, in two or three lower-case letters, such as en.")
    for language, text in texts.items():
        if not isinstance(text, str) or len(text) > MAX_TEXT_LENGTH or text_problem(text):
            raise Refused(f"The text for {language} is not a text of at most {MAX_TEXT_LENGTH} characters.")
        if "{{code}}" not in text or "{{" in PLACEHOLDERS.sub("", text):
            raise Refused(
                f"The text for {language} must have {{{{code}}}}, may have {{{{name}}}}, and nothing else in braces."
            )
