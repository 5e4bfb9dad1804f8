"""Numbers of contacts as people write them."""

import phonenumbers
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.sms.numbering import Numbering, numbering_of
from shared.sms.phones import is_phone

COUNTRIES = ("KE", "TZ", "GB", "US", "DE", "IN", "BR", "IT", "NG", "ZA", "FR", "SN", "SG", "MX", "RU")


def test_it_works() -> None:
    kenya = numbering_of("KE")
    for written in ("0711000000", "711000000", "254711000000", "+254 711-000 000", "00254711000000", " 0711 000 000 "):
        assert kenya.read(written) == "254711000000", written


@pytest.mark.parametrize(
    ("country", "written", "read"),
    [
        ("KE", "447911123456", "447911123456"),
        ("DE", "491600000000", "491600000000"),
        ("DE", "447911123456", "447911123456"),
        ("DE", "4915112345678", "4915112345678"),
        ("DE", "0254711009918", "49254711009918"),
        ("DE", "25400000001", None),
        ("KE", "254711009918.0", None),
        ("KE", "0711.000000", None),
        ("US", "4155552671", "14155552671"),
        ("KE", "+44 (0)20 7946 0958", "442079460958"),
        ("IT", "06 6982", "39066982"),
        ("US", "(415) 555-2671", "14155552671"),
        (None, "+254 711 000000", "254711000000"),
        (None, "0711000000", None),
        ("KE", "07110000000", None),
        ("KE", "1-800-FLOWERS", None),
        ("KE", "\u0660\u0667\u0661\u0661\u0660\u0660\u0660\u0660\u0660\u0660", None),
        ("KE", "", None),
        ("KE", "0" * 100_000, None),
        ("KE", "711000000\x00", None),
    ],
)
def test_how_numbers_are_written(country: str | None, written: str, read: str | None) -> None:
    numbering = Numbering(country)
    assert numbering.read(written) == read
    assert numbering.detail(written).endswith(".")


@pytest.mark.parametrize("written", ["0711 000 304", "0711000304", "711-000-304", "+49 (0)170 1234567", "call me"])
def test_without_a_country_the_error_says_how_to_set_one(written: str) -> None:
    problem = Numbering(None).problem(written)
    assert problem["code"] == "invalid_phone"
    assert "the account has no country" in problem["detail"]
    assert "bulksms account country" in problem["detail"]
    assert "digits only" not in problem["detail"], "lists of contacts may be formatted freely"


def test_the_error_names_the_country_by_which_local_numbers_are_read() -> None:
    detail = Numbering("KE").problem("0711 000 30")["detail"]
    assert detail == "This is neither a local number of KE nor an international number."


@pytest.mark.parametrize("country", [None, "KE"])
def test_a_number_of_a_spreadsheet_is_explained(country: str | None) -> None:
    problem = Numbering(country).problem("2.54711E+11")
    assert problem["code"] == "invalid_phone"
    assert "as a spreadsheet writes it" in problem["detail"]
    assert "is empty" in Numbering(country).detail(" ")


@settings(max_examples=150)
@given(
    st.sampled_from(COUNTRIES),
    st.sampled_from(["", "0", "+", "00", "code", "+code", "8"]),
    st.text("0123456789", min_size=5, max_size=11),
)
@example("ZA", "0", "81000")  # as long as its plan wants, and shorter than any phone
def test_the_usual_forms_are_read_as_the_plan_reads_them(country: str, prefix: str, digits: str) -> None:
    written = prefix.replace("code", str(phonenumbers.country_code_for_region(country))) + digits
    numbering = Numbering(country)
    read = numbering.read(written)
    assert read == numbering._by_plan(written)
    assert read is None or is_phone(read)
