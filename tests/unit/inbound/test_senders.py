"""The number of a sender is read in whatever form a carrier writes it, and never as somebody else's."""

import pytest

from shared.inbound import Inbound
from shared.inbound.senders import sender_number
from tests.harness.what_we_read import table


def read(written: str, country: str | None = "KE", national: bool | None = None, sent_to: str = "ACME") -> str:
    return sender_number(Inbound(written, sent_to, "STOP", national=national), lambda: country)


@pytest.mark.parametrize(
    ("written", "national"),
    [
        ("254711000071", None),
        ("254711000071", False),
        ("254711000071", True),
        ("00254711000071", None),
        ("00254711000071", True),
        ("254 711-000071", None),
        ("0711000071", None),
        ("0711000071", True),
        ("0711000071", False),
        ("711000071", None),
        ("711000071", True),
    ],
)
def test_every_form_of_a_number(written: str, national: bool | None) -> None:
    assert read(written, national=national) == "254711000071"


@pytest.mark.parametrize(
    ("written", "country", "national", "expected"),
    [
        ("447911123456", "KE", None, "447911123456"),
        ("15202345678", "DE", None, "15202345678"),
        ("15202345678", "DE", True, "4915202345678"),
        ("15202345678", "KE", True, "15202345678"),
        ("15202345678", None, True, "015202345678"),
        ("6591234567", "DE", True, "496591234567"),
        ("015202345678", None, True, "015202345678"),
        ("711000074", "DE", True, "49711000074"),
        ("711000074", "KE", False, "711000074"),
        ("0711000074", "DE", None, "0711000074"),
        ("0711000074", None, None, "0711000074"),
        ("020123456", "KE", None, "020123456"),
        ("2125550123", "US", True, "12125550123"),
        ("4522345678", "US", None, "4522345678"),  # Danish: there is no +1 452
        ("491701234567", "DE", True, "491701234567"),
    ],
)
def test_it_is_nobody_elses_number(written: str, country: str | None, national: bool | None, expected: str) -> None:
    """What begins with 0 opts nobody out. What cannot be a national number there is an international one."""
    assert read(written, country, national) == expected


@pytest.mark.parametrize(
    ("sent_to", "country", "expected"),
    [
        ("254204000001", None, "254711000071"),
        ("+254204000001", "DE", "254711000071"),
        ("4930123456", "KE", "0711000071"),
        ("20123", "KE", "254711000071"),
        ("870776000000", "KE", "254711000071"),
    ],
)
def test_a_number_is_of_the_country_of_the_number_it_was_sent_to(
    sent_to: str, country: str | None, expected: str
) -> None:
    assert read("0711000071", country, sent_to=sent_to) == expected


@pytest.mark.parametrize(
    "row", table("Senders of inbound messages"), ids=lambda row: f"{row['Sender']} to {row['Sent to']}"
)
def test_a_sender_is_read_as_the_page_says(row: dict[str, str]) -> None:
    national = {"unknown": None, "international": False, "national": True}[row["Type of number"]]
    assert read(row["Sender"], None, national, row["Sent to"]) == row["Read as"]
