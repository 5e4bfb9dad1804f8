"""Codes of verifications: how they are shown."""

from types import SimpleNamespace

from hypothesis import assume, given
from hypothesis import strategies as st

from shared.accounts.refused import Refused
from shared.accounts.verification_settings import check_settings
from shared.sends.templates import parse
from shared.verifications import shown

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
