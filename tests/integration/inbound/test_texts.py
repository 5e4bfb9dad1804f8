"""Texts of phones in every charset, from the deliver_sm to GET /inbound."""

import itertools

import pytest

from shared.carriers.smpp.constants import UDH_INDICATOR, Command
from shared.carriers.smpp.pdu import Message, message_body, read_message
from shared.inbound import end_parts
from tests.harness.service import Service
from tests.harness.what_we_read import table
from tests.integration.inbound.test_inbound import PHONE, come, number, shown
from tests.unit.carriers.smpp.making import config
from worker.carriers.smpp.receipt import inbound

__all__ = ["number"]

REFERENCES = itertools.count(1)
WHOLE = [
    *table("Texts by data_coding"),
    *table("Texts in national languages"),
    *table("Texts with a wrong data_coding"),
    *table("Texts that are what their data_coding says"),
]


def deliver(service: Service, number: str, octets: bytes, coding: int, header: bytes = b"") -> None:
    """Receive one deliver_sm."""
    indicator = UDH_INDICATOR if header else 0
    header = bytes((len(header),)) + header if header else b""
    message = Message(PHONE, number, header + octets, esm_class=indicator, data_coding=coding, source_ton=1)
    come(service, inbound(config(), read_message(Command.DELIVER_SM, message_body(message))))


def header_of(row: dict[str, str]) -> bytes:
    """The elements of the user data header: each is a name, its length 01, and a value."""
    return bytes.fromhex(row.get("Header", "").strip("-"))


@pytest.mark.parametrize("row", WHOLE, ids=lambda row: f"{row['data_coding']}-{row['Text']!a}-{row['Octets'][:8]}")
def test_a_text_is_shown_as_it_was_written(service: Service, number: str, row: dict[str, str]) -> None:
    deliver(service, number, bytes.fromhex(row["Octets"]), int(row["data_coding"], 0), header_of(row))
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == [row["Text"]]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("row", table("Texts cut into parts"), ids=lambda row: f"{row['Text']!a}")
def test_a_text_cut_into_parts_is_whole_again(
    service: Service, number: str, row: dict[str, str], backwards: bool
) -> None:
    octets = [bytes.fromhex(part) for part in row["Octets"].split("/")]
    reference = next(REFERENCES)
    parts = [*enumerate(octets, 1)]
    for place, part in reversed(parts) if backwards else parts:
        header = bytes((0, 3, reference, len(parts), place)) + header_of(row)
        deliver(service, number, part, int(row["data_coding"], 0), header)
        deliver(service, number, part, int(row["data_coding"], 0), header)
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == [row["Text"]]


def test_what_is_on_both_sides_of_a_missing_part_is_not_joined(service: Service, number: str) -> None:
    for place, octets in ((1, b"a\x1b"), (3, b"eb")):
        deliver(service, number, octets, 0, bytes((0, 3, 250, 3, place)))
    service.execute("UPDATE inbound_part SET received_at = now() - interval '25 hours'")
    end_parts(service.engine)
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == ["a eb"]


@pytest.mark.parametrize("text", ["İPTAL", "ARRÊT", "СТОП", "停止"])
def test_an_opt_out_in_a_charset_of_its_own_is_one(service: Service, number: str, text: str) -> None:
    rows = [row for row in WHOLE if row["Text"] == text]
    assert rows
    for row in rows:
        deliver(service, number, bytes.fromhex(row["Octets"]), int(row["data_coding"], 0), header_of(row))
    assert {each["keyword"] for each in shown(service, f"?sender_id={number}")} == {"stop"}
