import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.sms.phones import ScreenedPhones, invalid_detail, is_phone, mask, screen, suggest
from shared.sms.written import is_spreadsheet_number, written_digits

ARABIC_INDIC = "\u0664\u0669\u0661\u0667\u0660\u0661\u0662\u0663\u0664\u0665"
FULL_WIDTH = "\uff14\uff19\uff11\uff17\uff10\uff11\uff12\uff13\uff14"
NOT_PHONES = [
    "",
    " ",
    "1234567",
    "1" * 16,
    "0491701234567",
    "+491701234567",
    "49 1701234567",
    "491701234567\n",
    "\n491701234567",
    "491701234567\n491701234568",
    "4917012345\u00b2",
    ARABIC_INDIC,
    FULL_WIDTH,
    "49170123456\u0664",
    "49170123456\uff14",
    "49170123456a",
    "-49170123456",
    "49170123.456",
    "1_000_000_000",
    "4917012345\ud83d",
]
NOT_STRINGS: list[object] = [
    None,
    491701234567,
    4.9e11,
    True,
    ["491701234567"],
    {"phone": "491701234567"},
    b"491701234567",
]


def test_it_works() -> None:
    assert screen(["491701234567", "+49 170 1234568", "491701234567"], allow_duplicates=False) == ScreenedPhones(
        accepted=["491701234567"],
        accepted_index=[0],
        rejected=[
            {
                "index": 1,
                "phone": "+49 170 1234568",
                "code": "invalid_phone",
                "detail": "A phone number is digits only, without a plus sign, leading 00 or separators;"
                " send 491701234568.",
                "suggestion": "491701234568",
            },
            {"index": 2, "phone": "491701234567", "code": "duplicate", "duplicate_of": 0},
        ],
    )


@pytest.mark.parametrize("text", ["12345678", "123456789012345", "491701234567", "1" + "0" * 14])
def test_8_to_15_digits_are_a_phone(text: str) -> None:
    assert is_phone(text)


@pytest.mark.parametrize("text", NOT_PHONES)
def test_anything_else_is_not(text: str) -> None:
    assert not is_phone(text)
    assert screen([text], allow_duplicates=False).accepted == []


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("+491701234567", "491701234567"),
        ("00491701234567", "491701234567"),
        (" 491701234567\n", "491701234567"),
        ("254711009918\t", "254711009918"),
        ("+49 170 123-4567", "491701234567"),
        ("+254 (711) 000-000", "254711000000"),
        ("(+254711009918)", "254711009918"),
        ("(00254) 711 009 918", "254711009918"),
        ("(+49) 170/1234567", "491701234567"),
        ("+49\u00a0170\u00a01234567", "491701234567"),
        ("\u202a+254\u00a0711\u2011000000\u202c", "254711000000"),
        ("- +254 711 009 918", "254711009918"),
        ("• (254) 711 009918", "254711009918"),
        ("+254 711 009 918.", "254711009918"),
        ("+49.170.1234567", "491701234567"),
        ("+254.711009918", "254711009918"),
        ("1.202.555.0143", "12025550143"),
        ("+1 (202) 555-0143", "12025550143"),
        ("1-202-555-0143", "12025550143"),
        ("1 2025550143", "12025550143"),
        ("7 912 345-67-89", "79123456789"),
        ("91 65 9123 4567", "916591234567"),
        ("+86 13812345678", "8613812345678"),
        ("+62 895123456789", "62895123456789"),
        ("+38 (067) 123-45-67", "380671234567"),
        ("+39 (06) 1234 5678", "390612345678"),
        ("+225 (07) 12 34 56 78 90", "225071234567890"),
        ("+88 (01712) 345678", "8801712345678"),
        ("+380 67 123 - 45 - 67", "380671234567"),
        ("+421 901/123 456", "421901123456"),
        ("+49 2151/123456", "492151123456"),
        ("+49 170 1234567-0", "4917012345670"),
        ("+49 170", "49170"),
        ("0711", "0711"),
        ("0170 1234567", "01701234567"),
        ("0711.009.918", "0711009918"),
        ("06.12.34.56.78", "0612345678"),
        ("0.532.123.45.67", "05321234567"),
    ],
)
def test_the_digits_of_a_written_phone_are_read_and_suggested_if_complete(text: str, digits: str) -> None:
    assert written_digits(text) == digits
    assert suggest(text) == (digits if is_phone(digits) else None)


@pytest.mark.parametrize(
    "text",
    [
        "+",
        "hello",
        ARABIC_INDIC,
        "++491701234567",
        "491701\n234567",
        "491701234567, 491701234568",
        "254711009918\n254711009919",
        "254711009918\t12",
        "-" * 100 + "491701234567",
        "+49 170 1234567 ext. 3",
        "+49 (0)170 1234567",
        "+49(0170)1234567",
        "+44 (0 7911) 123456",
        "2) 491701234567",
        "(12) 254722000012",
        "254755000001 (2)",
        "12 491701234567",
        "254711009918 12",
        "+62 254711009918 12",
        "12 - 254 711 009 918",
        "12.254.711.009.918",
        "12. 0722000001",
        "12.0722000001",
        "20 0722000001",
        "1 0722 0000 01 02",
        "7 33 6 12 34 56 78",
        "20.45 12 34 56 78",
        "21 65 9123 4567",
        "+254733000001.0",
        "+254 711 000 000.2",
        "+65 9123 4567 / 8",
        "+65 9123 4567 - 12",
        "+65 9123 4567 / 9123 4568",
        "555-2671 / 555-2672",
        "55512 - 55513",
        "2026-11-27",
    ],
)
def test_digits_that_may_be_no_part_of_the_phone_are_not_read(text: str) -> None:
    """With them, it would be somebody else's."""
    assert written_digits(f" {text} ") is None
    assert suggest(text) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "not null"),
        (491701234567, "not a number"),
        (True, "not a boolean"),
        ([], "not an array"),
        ({}, "not an object"),
        ("", "is empty"),
        ("  ", "is empty"),
        ("+491701234567", "send 491701234567"),
        ("+49 (0)170 1234567", "Remove it"),
        (ARABIC_INDIC, "the digits 0-9 only"),
        ("call me", "the digits 0-9 only"),
        ("01701234567", "starts with 0"),
        ("1234567", "has 7 digits and needs at least 8"),
        ("491701234567.0", "as a spreadsheet writes it"),
        ("4,91701E+11", "as a spreadsheet writes it"),
        ("1" * 16, "has 16 digits and may have at most 15"),
    ],
)
def test_the_detail_explains_what_is_wrong(value: object, problem: str) -> None:
    assert problem in invalid_detail(value)


@pytest.mark.parametrize(
    "text", ["491701234567.0", "491701234567,00", "4.91701E+11", "4,9e11", "49E10", " 4.91701E+11 "]
)
def test_a_number_mangled_by_a_spreadsheet_gets_no_suggestion(text: str) -> None:
    """One digit more, or some less, would be somebody else's phone."""
    assert suggest(text) is None
    assert is_spreadsheet_number(text)
    rejected = screen([text], allow_duplicates=False).rejected
    assert [(entry["code"], "suggestion" in entry) for entry in rejected] == [("invalid_phone", False)]
    assert "spreadsheet" in str(rejected[0]["detail"])


@pytest.mark.parametrize("text", ["0170.1234567", "1.5.2", "12e", "e5", "call me", ".0", "1" * 70 + ".0"])
def test_other_values_are_not_mangled_numbers(text: str) -> None:
    assert not is_spreadsheet_number(text)


def test_a_rejected_value_is_cut_and_shown_only_if_it_is_a_string() -> None:
    screened = screen(["9" * 1000, 491701234567, None], allow_duplicates=False)
    assert [entry["phone"] for entry in screened.rejected] == ["9" * 32, None, None]
    assert not any("suggestion" in entry for entry in screened.rejected)


@pytest.mark.parametrize(
    ("phone", "masked"),
    [("491701234567", "491*******67"), ("12345678", "123***78"), ("1234567", "*******"), ("", "")],
)
def test_a_log_shows_little_of_a_phone(phone: str, masked: str) -> None:
    assert mask(phone) == masked


ASCII_DIGITS = frozenset("0123456789")


def screened_one_by_one(phones: list[object], allow_duplicates: bool) -> list[tuple[str, object]]:
    """For each item its fate, found without a regular expression and without a pass over the whole."""
    fates: list[tuple[str, object]] = []
    for index, phone in enumerate(phones):
        if not (isinstance(phone, str) and 8 <= len(phone) <= 15 and set(phone) <= ASCII_DIGITS and phone[0] != "0"):
            fates.append(("invalid_phone", None))
        elif not allow_duplicates and phone in phones[:index]:
            fates.append(("duplicate", phones.index(phone)))
        else:
            fates.append(("accepted", phone))
    return fates


few_phones = st.integers(491701234560, 491701234599).map(str)
phone_like = st.text(st.sampled_from("0123456789123456789\n +\u00b2\u0664\uff11"), min_size=6, max_size=17)
mostly_phones = st.lists(few_phones, max_size=30)
anything = st.lists(
    st.one_of(few_phones, few_phones, phone_like, st.sampled_from(NOT_PHONES), st.sampled_from(NOT_STRINGS)),
    max_size=20,
)


@given(st.one_of(mostly_phones, anything), st.booleans())
def test_screening_together_equals_screening_one_by_one(phones: list[object], allow_duplicates: bool) -> None:
    screened = screen(phones, allow_duplicates)

    positions = range(len(phones)) if screened.accepted_index is None else screened.accepted_index
    fates: dict[object, tuple[object, object]] = {
        index: ("accepted", phone) for index, phone in zip(positions, screened.accepted, strict=True)
    }
    for entry in screened.rejected:
        assert entry["index"] not in fates
        fates[entry["index"]] = (entry["code"], entry.get("duplicate_of"))

    assert [fates[index] for index in range(len(phones))] == screened_one_by_one(phones, allow_duplicates)
    assert len(fates) == len(phones)
    assert (screened.accepted_index is None) == (not screened.rejected)
    rejected_index = [entry["index"] for entry in screened.rejected]
    assert rejected_index == [index for index in range(len(phones)) if index in rejected_index]


@given(st.text(st.sampled_from("0123456789+ -.()/\u00a0\n\u0664"), max_size=30))
def test_a_suggestion_is_a_phone_of_the_same_digits(text: str) -> None:
    suggestion = suggest(text)
    if suggestion is not None:
        assert is_phone(suggestion)
        assert "".join(c for c in text if c in ASCII_DIGITS).removeprefix("00") == suggestion
