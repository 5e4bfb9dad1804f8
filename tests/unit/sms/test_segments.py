import operator
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.sms import gsm7
from shared.sms.segments import (
    MAX_CHARACTERS,
    replacement_of,
    segment,
    split,
    text_problem,
    transliterate,
)

SMILE = "\U0001f600"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"  # 7 code points, 11 code units


def runs(characters: list[str], longest: int) -> st.SearchStrategy[str]:
    """Texts of a few runs of one character each: long enough for several parts, which st.text() seldom is."""
    run = st.builds(operator.mul, st.sampled_from(characters), st.integers(1, longest))
    return st.lists(run, max_size=8).map("".join)


gsm7_text = runs(["a", "é", "@", "€", "{", "\n"], 160)
ucs2_text = runs(["a", "€", "\u0431", SMILE, "\u200d", "\u2019"], 70)
any_text = st.one_of(gsm7_text, ucs2_text, st.text(st.characters(exclude_categories=["Cs"])))


def utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def counted(text: str) -> tuple[str, int, int]:
    found = segment(text)
    return found.encoding, found.count, found.units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("gsm7", 1, 0)),
        ("a" * 160, ("gsm7", 1, 160)),
        ("a" * 161, ("gsm7", 2, 161)),
        ("a" * 306, ("gsm7", 2, 306)),
        ("a" * 307, ("gsm7", 3, 307)),
        ("€" * 80, ("gsm7", 1, 160)),
        ("€" * 80 + "a", ("gsm7", 2, 161)),
        # 153 is odd: a part holds 76 euro signs and leaves a septet empty, so 306 septets take three parts.
        ("€" * 152, ("gsm7", 2, 304)),
        ("€" * 153, ("gsm7", 3, 306)),
        ("a" * 152 + "€" + "a" * 152, ("gsm7", 3, 306)),
        ("a" * 151 + "€" + "a" * 153, ("gsm7", 2, 306)),
        ("\u0431" * 70, ("ucs2", 1, 70)),
        ("\u0431" * 71, ("ucs2", 2, 71)),
        ("\u0431" * 134, ("ucs2", 2, 134)),
        ("\u0431" * 135, ("ucs2", 3, 135)),
        ("a" * 69 + "\u2019", ("ucs2", 1, 70)),
        ("a" * 70 + "\u2019", ("ucs2", 2, 71)),
        (SMILE * 35, ("ucs2", 1, 70)),
        (SMILE * 35 + "a", ("ucs2", 2, 71)),
        # 67 is odd too: 33 pairs to a part.
        (SMILE * 66, ("ucs2", 2, 132)),
        (SMILE * 67, ("ucs2", 3, 134)),
        (FAMILY * 6, ("ucs2", 1, 66)),
        (FAMILY * 7, ("ucs2", 2, 77)),
    ],
)
def test_known_texts(text: str, expected: tuple[str, int, int]) -> None:
    assert counted(text) == expected
    assert len(split(text)) == expected[1]


def test_a_lone_surrogate_is_an_error() -> None:
    with pytest.raises(UnicodeEncodeError):
        segment("abc\ud83d")
    with pytest.raises(UnicodeEncodeError):
        split("abc\ud83d")


@given(any_text)
def test_each_part_fits_and_none_could_take_the_next_character(text: str) -> None:
    found, parts = segment(text), split(text)
    size, single, per_part = (gsm7.septet_count, 160, 153) if found.encoding == "gsm7" else (utf16_units, 70, 67)
    assert ("".join(parts), len(parts), size(text)) == (text, found.count, found.units)
    if len(parts) == 1:
        assert size(text) <= single
        return
    assert size(text) > single
    assert all(0 < size(part) <= per_part for part in parts)
    assert all(size(part + following[0]) > per_part for part, following in pairwise(parts))


def code_of(text: str) -> str | None:
    problem = text_problem(text)
    return problem and problem[0]


@pytest.mark.parametrize(
    "text", ["a", "a\nb\r\nc\td\fe", "\u0431" * MAX_CHARACTERS, SMILE * MAX_CHARACTERS, FAMILY, "."]
)
def test_ordinary_texts_can_be_sent(text: str) -> None:
    assert text_problem(text) is None


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\t \r", "\u00a0\u3000", "\u200b\ufeff", "\x00", "\x1b\x85", "\u00ad", "\ufe0f", "\u2800", " " * 2000],
)
def test_a_text_that_shows_nothing_is_empty(text: str) -> None:
    assert code_of(text) == "message_empty"


def test_a_text_may_have_1600_code_points() -> None:
    assert text_problem("a" * 1600) is None
    assert text_problem(SMILE * 1600) is None
    assert text_problem("a" * 1612) == (
        "message_too_long",
        "The text has 1,612 characters; shorten it to 1,600 or send it as several messages.",
    )


@pytest.mark.parametrize(
    "refused", ["\x00", "\x07", "\x0b", "\x1b", "\x1c", "\x7f", "\x80", "\x9f", "\ud83d", "\ude00"]
)
def test_controls_and_lone_surrogates_are_refused(refused: str) -> None:
    assert code_of(f"abc{refused}d") == "invalid_characters"


def test_the_sentence_names_the_character() -> None:
    assert text_problem("abc\x00") == ("invalid_characters", "Character 4 (U+0000) is a control character; remove it.")
    assert text_problem("\ud83d!") == (
        "invalid_characters",
        "Character 1 (U+D83D) is half of a surrogate pair; remove it.",
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\u201cIt\u2019s 5\u20136\u201d\u2026", '"It\'s 5-6"...'),
        ("\u00abBonjour\u00bb\u202f! \u2014 \u00c0 bient\u00f4t", '"Bonjour" ! - A bientot'),
        ("fran\u00e7ais d\u00e9j\u00e0", "francais déjà"),
        ("e\u0301t\u0065\u0302", "éte"),
        ("\u0141\u00f3d\u017a, \u0151r\u00fclt, \u011eI\u015f\u0131", "Lodz, orült, GIsi"),
        ("5\u00a0%\u3000off\u200b\u00ad!", "5 % off!"),
        ("\u2022\tone\u2028two", "* one\ntwo"),
        ("\ufb01ve \uff11\uff12 \u2122 \u00a9", "five 12 TM (c)"),
        ("\u039a\u0391\u039b\u0397\u039c\u0388\u03a1\u0391", "KAΛHMEPA"),
        ("\u2212" + "5 `code`", "-5 'code'"),
        ("3 \u00d7 2, 1\u00ba", "3 x 2, 1o"),
    ],
)
def test_typography_becomes_plain(text: str, plain: str) -> None:
    assert transliterate(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "It\u2019s \u0431",  # all or nothing
        "It\u2019s " + SMILE,
        FAMILY,
        "10\u00b2",
        "10\u207f",
        "1\u00bd kg",
        "a \u2260 b",
        "p\u0336r\u0336ice",
        "20 \u00b0C",
        "\u20b9500",
        "\u2460",
    ],
)
def test_a_text_that_cannot_become_plain_stays_unchanged(text: str) -> None:
    assert transliterate(text) == text


def test_a_text_is_not_made_longer_than_it_costs_as_it_is() -> None:
    assert segment("\u2026" * 70).count == 1
    assert transliterate("\u2026" * 70) == "\u2026" * 70
    assert transliterate("\u2026" * 53) == "..." * 53


# Characters that transliterate has rules for, dense enough that the whole text often turns out plain.
typographic = st.text(
    st.sampled_from("abe \n\u2019\u2026\u2014\u00a0\u00e7\u0151\u0301\u200b\u2122\ufb01\t\u0391"), max_size=200
)


@given(st.one_of(typographic, any_text))
def test_transliterating_is_safe(text: str) -> None:
    plain = transliterate(text)
    assert plain == text or gsm7.is_gsm7(plain)
    assert segment(plain).count <= segment(text).count
    assert transliterate(plain) == plain
    if text_problem(text) is None:
        assert text_problem(plain) is None


OFTEN = "\u2019\u201c\u2013\u2026\u2022\u00e9\u00e7\u0151\u015e\ufb01\u00bd\u00b2\u2260\u0391\u200b\u00a0\u0416A{\u20ac"


@given(st.text(st.one_of(st.sampled_from(OFTEN), st.characters(exclude_categories=["Cs"]))))
def test_the_replacement_of_each_character_makes_the_text_that_is_sent(message: str) -> None:
    """Accents by themselves aside, which belong to the letter before them."""
    message = "".join(c for c in unicodedata.normalize("NFC", message) if not unicodedata.combining(c))
    plain = transliterate(message)
    if plain != message:
        assert "".join(c if gsm7.is_gsm7(c) else replacement_of(c) or "" for c in message) == plain
    elif not gsm7.is_gsm7(message) and text_problem(message) is None:
        sent = [c if gsm7.is_gsm7(c) else replacement_of(c) for c in message]
        made = "".join(each for each in sent if each is not None)
        assert None in sent or text_problem(made) is not None or segment(made).count > segment(message).count


@pytest.mark.parametrize(("accents", "plain"), [(30, "a"), (31, None)])
def test_a_text_with_very_many_accents_is_not_composed(accents: int, plain: str | None) -> None:
    """Unicode orders them by insertion, in time that grows with the square of their number."""
    text = "a" + "\u0316\u0300" * (accents // 2) + "\u0316" * (accents % 2)
    assert transliterate(text) == (text if plain is None else "à")
