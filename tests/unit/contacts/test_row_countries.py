"""Rows that name a country beside a phone, as exports have them."""

import pytest

from console.message.recipients import read_table, recipients_of_table
from shared.contacts.csv import ContactReader
from shared.contacts.row_countries import country_named
from shared.sms.numbering import numbering_of
from shared.sms.phones import is_phone


@pytest.mark.parametrize(
    ("country", "file", "phone"),
    [
        ("KE", "Name,Country Code,Phone Number\nAnn,256,772123456\n", 256772123456),
        ("KE", "Name,Dial Code,Phone Number\nAnn,+256,0772123456\n", 256772123456),
        ("KE", "Name,Calling Code,Phone Number\nAnn,1,(323) 555-0123\n", 13235550123),
        ("KE", "Phone,Country Code\n254711000301,256\n", None),
        ("", "Country Code,Phone\n256,772123456\n", 256772123456),
        ("", "Country Code,Phone\n256,+254711000301\n", 254711000301),
        ("KE", "Name,Country,Phone\nAnn,UG,0772123456\n", None),
        ("US", "Name,Country,Phone\nAnn,Mexico,3235550123\n", None),
        ("KE", "Name,Country,Phone\nAnn,Uganda,+256772123456\n", 256772123456),
        ("KE", "Name,Country,Phone\nAnn,UG,256772123456\n", 256772123456),
        ("KE", "Name,Country,Phone\nAnn,Kenya,0711000301\n", 254711000301),
        ("KE", "Name,Country,Phone\nAnn,Atlantis,0711000301\n", 254711000301),
        ("KE", "Name,Country,Phone\nAnn,US,0711000301\n", 254711000301),  # an address: no number there is like that
        ("FR", "Nom;Pays;Portable\nAnn;Maroc;0612345678\n", None),
        ("US", "phone,status,country\n3235550123,delivered,BE\n", 3235550123),  # our own export
        ("KE", "Name,Phone,Billing Country,Shipping Country\nAnn,0772123456,UG,KE\n", 254772123456),
        ("KE", "Phone,Business Country/Region,Home Country/Region\n0772123456,Uganda,Kenya\n", 254772123456),
        ("KE", "Phone,Country,Country Code\n0772123456,KE,256\n", 256772123456),
        ("KE", "Phone,Land\n0711000301,20 acres\n", 254711000301),
        ("BS", "Phone,Country Code\n3591234,1\n", 12423591234),
        ("BS", "Phone,Country Code\n3235550123,1\n", 13235550123),
        ("KE", "Mobile,Home Phone,Country Code\n,0772123456,256\n", 256772123456),
    ],
)
def test_no_number_is_read_as_one_of_another_country(country: str, file: str, phone: int | None) -> None:
    numbering = numbering_of(country or None)
    contacts, rejected = ContactReader(numbering).read(file, True)
    assert [each.phone for each in contacts] == ([] if phone is None else [phone])
    assert [each.code for each in rejected] == ["invalid"] * (phone is None)
    assert all("start the phone number with a plus sign" in each.detail for each in rejected)
    table = read_table(file, numbering)
    (sent,) = recipients_of_table(table, table.phone_column or 0, {})
    assert sent["phone"] == str(phone) if phone else not is_phone(sent["phone"])


@pytest.mark.parametrize(
    ("country", "written", "addresses", "phone"),
    [
        ("KE", "0711 000301", "Germany Ireland Switzerland Netherlands Australia Rwanda", 254711000301),
        ("FR", "06 12 34 56 78", "Suisse Italie Guadeloupe Martinique Réunion", 33612345678),
        ("FR", "33612345678", "Italie Luxembourg", 33612345678),
        ("DE", "0151 23456789", "Österreich", 4915123456789),
        ("AT", "0664 1234567", "Deutschland", 436641234567),
        ("GB", "07911 123456", "Germany India", 447911123456),
    ],
)
def test_a_mobile_phone_has_an_address_abroad(country: str, written: str, addresses: str, phone: int) -> None:
    rows = "\n".join(f"{written},{address}" for address in addresses.split())
    contacts, rejected = ContactReader(numbering_of(country)).read(f"Phone,Country\n{rows}\n", True)
    assert {each.phone for each in contacts} == {phone} and rejected == []


@pytest.mark.parametrize(
    ("written", "detail"),
    [
        ("2.54711E+11", "This is a number as a spreadsheet writes it"),
        ("+254711", "This is neither a local number of KE"),
        ("07", "This is neither a local number of KE"),
    ],
)
def test_what_is_no_number_anywhere_is_not_to_be_mended_with_a_plus_sign(written: str, detail: str) -> None:
    _, (rejected,) = ContactReader(numbering_of("KE")).read(f"Phone,Country Code\n{written},254\n", True)
    assert rejected.detail.startswith(detail)


@pytest.mark.parametrize(
    "cell",
    [
        "256",
        "+256",
        "00256",
        "256.0",
        "(256)",
        "256 - Uganda",
        "+256 Uganda",
        "Uganda (+256)",
        "UG",
        "ug",
        "UGA",
        "Ouganda",
    ],
)
def test_a_country_is_named(cell: str) -> None:
    found = country_named(cell)
    assert found is not None and found.iso == "UG"


@pytest.mark.parametrize("cell", ["", "n/a", "Atlantis", "800", "999", "10002345678", "20 acres", "20.5", "-"])
def test_nothing_else_is_a_country(cell: str) -> None:
    assert country_named(cell) is None
