"""The national language tables. docs/reference/what-we-read.md has a text in each."""

import pytest

from shared.sms import gsm7
from shared.sms.national import LOCKING_SHIFT, SINGLE_SHIFT


@pytest.mark.parametrize(
    ("octets", "single_shift", "locking_shift", "text"),
    [
        (b"\x40\x07\x1bs\x1be", 1, 1, "İış€"),
        (b"\x40\x1bI\x1b<", 1, 0, "¡İ["),
        (b"\x1ba\x1bA", 2, 2, "áÁ"),
        (b"\x7b\x1b\x7b", 3, 3, "ãã"),
        (b"\x03\x24\x1b\x1c\x1bA", 6, 6, "\u0905\u0921\u0966A"),
        (b"\x24\x1bz\x1b\x1b\x1b", 7, 7, "\u0ca1z  "),
        (b"\x00\x1b\x3f", 13, 13, "\u0627\u06d4"),
        (b"\x40\x1bI\x1be", 99, 99, "¡I€"),
    ],
)
def test_septets_are_read_by_the_tables_of_a_language(
    octets: bytes, single_shift: int, locking_shift: int, text: str
) -> None:
    assert gsm7.decode(octets, single_shift, locking_shift) == text


@pytest.mark.parametrize("language", LOCKING_SHIFT)
def test_each_locking_table_has_the_whole_of_its_alphabet(language: int) -> None:
    table = LOCKING_SHIFT[language]
    assert (len(table), table[0x1B], table[0x0A], table[0x0D], table[0x20]) == (128, "\x1b", "\n", "\r", " ")
    assert (table[0x30:0x3A], table[0x61:0x7B]) == ("0123456789", "abcdefghijklmnopqrstuvwxyz")
    letters = [each for each in table if each != " "]
    assert len(letters) == len(set(letters))


@pytest.mark.parametrize("language", SINGLE_SHIFT)
def test_each_single_table_has_the_default_extension(language: int) -> None:
    table = SINGLE_SHIFT[language]
    assert {character: code for code, character in table.items() if character in gsm7.EXTENSION} == gsm7.EXTENSION
