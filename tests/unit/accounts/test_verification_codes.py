"""Codes of verifications: how they are shown, and how they may be entered."""

from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.accounts.refused import Refused
from shared.accounts.verification_settings import check_settings
from shared.sends.templates import parse
from shared.verifications import as_digits, shown

CODES = st.text("0123456789", min_size=4, max_size=8)
PIECES = st.lists(
    st.sampled_from(["{{code}}", "{{name}}", "{", "}", "PIN", "_", "-", "#", " ", "\n", "7", "\u7801", "\u0667"])
)
OF_PHONE = SimpleNamespace(verification_id="1", test=False)


@given(pieces=PIECES, name=st.text(max_size=20), code=CODES)
def test_no_text_that_an_account_may_have_shows_its_code(pieces: list[str], name: str, code: str) -> None:
    message = "".join([*pieces, "{{code}}"])
    try:
        check_settings({"texts": {"en": message}})
    except Refused:
        assume(False)
    template = parse(message)
    assert template is not None
    sent = template.render({"code": code, "name": name})
    assert code in sent
    assert code not in shown(sent, OF_PHONE)


def test_the_rest_of_a_text_is_shown() -> None:
    assert shown("PIN123456 (24/7)", OF_PHONE) == "PIN****** (24/7)"
    assert shown("PIN123456", SimpleNamespace(verification_id="1", test=True)) == "PIN123456"
    assert shown("PIN123456", SimpleNamespace(verification_id=None, test=False)) == "PIN123456"


@pytest.mark.parametrize(
    "entered",
    [
        " 123 456\n",
        "123-456",
        "123\N{EN DASH}456",
        "\N{NO-BREAK SPACE}123456",
        "\N{RIGHT-TO-LEFT MARK}\N{ARABIC-INDIC DIGIT ONE}\N{ARABIC-INDIC DIGIT TWO}3456",
        "\N{FULLWIDTH DIGIT ONE}23456",
        "\N{DEVANAGARI DIGIT ONE}23456\N{ZERO WIDTH SPACE}",
    ],
)
def test_what_is_the_code(entered: str) -> None:
    assert as_digits(entered) == b"123456"


@pytest.mark.parametrize(
    "entered", ["123456.", "\N{SUPERSCRIPT ONE}23456", "\N{ROMAN NUMERAL ONE}23456", "l23456", "-"]
)
def test_what_is_not(entered: str) -> None:
    assert as_digits(entered) != b"123456"
