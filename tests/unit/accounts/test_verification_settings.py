"""Settings of verifications: what an operator may set, and what is refused."""

from typing import Any

import pytest

from shared.accounts.refused import Refused
from shared.accounts.verification_settings import TEXTS, check_settings, settings_of
from shared.sms.segments import segment


def test_what_is_left_out_is_usual() -> None:
    assert settings_of({"max_sends": 3}) == settings_of(None) | {"max_sends": 3}


def test_a_text_may_have_300_characters() -> None:
    check_settings({"texts": {"en": "{{code}}".ljust(300, "x"), "sw": "{{code}} {{name}}"}})


@pytest.mark.parametrize(
    "values",
    [
        ["max_sends"],
        {"digits": 6},
        {"code_digits": 3},
        {"max_checks": 11},
        {"max_sends": "3"},
        {"pause_seconds": True},
        {"texts": ["{{code}}"]},
        {"texts": {"EN": "{{code}}"}},
        {"texts": {"en": 1}},
        {"texts": {"en": "Your code"}},
        {"texts": {"en": "{{code}} {{other}}"}},
        {"texts": {"en": "{{code}}\x00"}},
        {"texts": {"en": "{{{{code}}name}} {{code}}"}},
        {"texts": {"en": "{{na{{code}}me}} {{code}}"}},
        {"texts": {"en": "{{code}}".ljust(301, "x")}},
    ],
)
def test_what_is_refused(values: Any) -> None:
    with pytest.raises(Refused):
        check_settings(values)


@pytest.mark.parametrize("text", TEXTS.values())
def test_the_usual_texts_are_one_segment(text: str) -> None:
    check_settings({"texts": {"en": text}})
    assert segment(text).encoding == "gsm7"
    assert segment(text.replace("{{name}}", "x" * 60)).count == 1
