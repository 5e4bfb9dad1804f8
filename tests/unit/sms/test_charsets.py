"""Texts in any charset. docs/reference/what-we-read.md has what is read from which octets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.carriers.smpp.alphabets import charset_of
from shared.sms import charsets, gsm7

sentences = st.text(st.sampled_from("aehinost ,.?!'ABS123"), min_size=1, max_size=160)


@given(st.binary(max_size=160), st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_any_octets_are_a_text(octets: bytes, data_coding: int, single_shift: int, locking_shift: int) -> None:
    text = charsets.decode(octets, charset_of(data_coding, "gsm7", single_shift, locking_shift))
    assert len(text) <= len(octets)


@given(sentences)
def test_a_sentence_is_read_in_each_charset(text: str) -> None:
    assert charsets.decode(gsm7.encode(text), "gsm7") == text
    for name in ("latin1", "ascii", "binary", "cyrillic", "hebrew", "jis", "extended-kanji", "korean"):
        assert charsets.decode(text.encode("ascii"), name) == text


@pytest.mark.parametrize(
    ("default", "octets", "text"),
    [("latin1", b"\xe9 @", "é @"), ("ascii", b"a @", "a @"), ("gsm7", b"\x05 \x00", "é @"), ("ucs2", b"\0a\0b", "ab")],
)
@pytest.mark.parametrize("data_coding", [0x00, 0x10, 0xF1, 0x80])
def test_the_default_alphabet_is_the_carriers(data_coding: int, default: str, octets: bytes, text: str) -> None:
    assert charsets.decode(octets, charset_of(data_coding, default)) == text  # type: ignore[arg-type]
