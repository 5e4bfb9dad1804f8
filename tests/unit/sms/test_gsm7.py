import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.sms import gsm7

# Written out here, code by code, so that a slip in the module's table is not repeated by its test.
LOW_CODES = {
    0x00: "@", 0x01: "£", 0x02: "$", 0x03: "¥", 0x04: "è", 0x05: "é", 0x06: "ù", 0x07: "ì",
    0x08: "ò", 0x09: "Ç", 0x0A: "\n", 0x0B: "Ø", 0x0C: "ø", 0x0D: "\r", 0x0E: "Å", 0x0F: "å",
    0x10: "Δ", 0x11: "_", 0x12: "Φ", 0x13: "Γ", 0x14: "Λ", 0x15: "Ω", 0x16: "Π", 0x17: "Ψ",
    0x18: "Σ", 0x19: "Θ", 0x1A: "Ξ", 0x1C: "Æ", 0x1D: "æ", 0x1E: "ß", 0x1F: "É",
    0x24: "¤", 0x40: "¡", 0x5B: "Ä", 0x5C: "Ö", 0x5D: "Ñ", 0x5E: "Ü", 0x5F: "§",
    0x60: "¿", 0x7B: "ä", 0x7C: "ö", 0x7D: "ñ", 0x7E: "ü", 0x7F: "à",
}  # fmt: skip
SAME_AS_ASCII = [code for code in range(0x20, 0x7F) if code not in LOW_CODES]
DEFAULT = LOW_CODES | {code: chr(code) for code in SAME_AS_ASCII}
EXTENDED = {
    "\f": 0x0A, "^": 0x14, "{": 0x28, "}": 0x29, "\\": 0x2F, "[": 0x3C, "~": 0x3D, "]": 0x3E, "|": 0x40, "€": 0x65,
}  # fmt: skip

gsm7_text = st.text(st.sampled_from([*DEFAULT.values(), *EXTENDED]))


def test_it_works() -> None:
    assert gsm7.is_gsm7("Hej @ 5€")
    assert gsm7.encode("Hej @ 5€") == b"Hej \x00 5\x1b\x65"
    assert gsm7.decode(b"Hej \x00 5\x1b\x65") == "Hej @ 5€"


def test_the_default_alphabet_has_every_code_but_the_escape() -> None:
    assert sorted([*DEFAULT, 0x1B]) == list(range(128))
    for code, character in DEFAULT.items():
        assert gsm7.encode(character) == bytes([code])
        assert gsm7.decode(bytes([code])) == character


@pytest.mark.parametrize(("character", "code"), EXTENDED.items())
def test_an_extension_character_is_the_escape_and_its_code(character: str, code: int) -> None:
    assert gsm7.encode(character) == bytes([0x1B, code])
    assert gsm7.decode(bytes([0x1B, code])) == character
    assert gsm7.septet_count(character) == 2


def test_exactly_these_characters_of_unicode_are_gsm7() -> None:
    known = {*DEFAULT.values(), *EXTENDED}
    assert {chr(code) for code in range(0x11000) if gsm7.is_gsm7(chr(code))} == known


@pytest.mark.parametrize(
    "text", ["`", "ç", "\t", "\x1b", "\x00", "\u2019", "\u03b1", "\u2126", "\U0001f600", "a" * 500 + "ő"]
)
def test_other_characters_are_not_gsm7(text: str) -> None:
    assert not gsm7.is_gsm7(text)
    with pytest.raises(UnicodeEncodeError):
        gsm7.encode(text)


@pytest.mark.parametrize(
    ("septets", "text"),
    [
        (b"a\x1b\x41b", "aAb"),  # not in the extension table: the default alphabet's character
        (b"a\x1b\x00b", "a@b"),
        (b"a\x1b", "a "),
        (b"a\x1b\x1bb", "a b"),
        (b"\x1b\x1b\x65", " e"),  # the second escape belongs to the first, so the e is an e
        (b"\x1b\x0a\x0a", "\f\n"),
        (b"\x1b\x28\x28\x1b\x3d\x1b\x65", "{(~€"),
    ],
)
def test_escapes_are_read_as_a_handset_reads_them(septets: bytes, text: str) -> None:
    assert gsm7.decode(septets) == text


@given(gsm7_text)
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert gsm7.is_gsm7(text)
    assert gsm7.decode(gsm7.encode(text)) == text
    assert len(gsm7.encode(text)) == gsm7.septet_count(text)


@given(st.binary().map(lambda data: bytes(byte & 0x7F for byte in data)))
def test_any_septets_can_be_shown(septets: bytes) -> None:
    assert gsm7.is_gsm7(gsm7.decode(septets))
