"""What the doctor says of receipts that are lost on us."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from shared.carriers.control import unreadable_receipts
from shared.carriers.receipts import Receipt, keep
from shared.carriers.unreadable import MAX_OCTETS, MAX_STORED, Unreadable, keep_unreadable
from shared.health.receipts import check_receipts
from shared.lifecycle import MessageStatus
from tests.harness.service import Service

CARRIER = "smsc"
FIRST = 254_780_000_000
REFERENCE = text("UPDATE message SET carrier = :carrier, reference = :reference WHERE id = :id")


@pytest.fixture(autouse=True)
def nothing_is_kept(service: Service) -> Iterator[None]:
    yield
    service.execute("DELETE FROM receipt")
    service.execute("DELETE FROM unreadable_receipt")


def found(service: Service) -> list[tuple[str, str, str]]:
    found = service.transact(lambda connection: list(check_receipts(connection)))
    return [(finding.name, finding.detail, finding.remedy) for finding in found]


@pytest.mark.parametrize(
    ("response", "receipt", "setting"),
    [
        ("{0}", "{0:x}", 'receipt_id = "hex_to_decimal"'),
        ("{0:x}", "{0}", 'receipt_id = "decimal_to_hex"'),
        ("{0:X}", "{0}", 'receipt_id = "decimal_to_hex" and id_case = "lower"'),
        ("{0:08x}", "{0}", 'receipt_id = "decimal_to_hex" and id_zeros = "strip"'),
        ("q{0:x}", "Q{0:X}", 'id_case = "lower"'),
        ("{0:x}g", "00{0:x}g", 'id_zeros = "strip"'),
    ],
)
def test_ids_of_another_form_are_reported_with_the_setting(
    service: Service, response: str, receipt: str, setting: str
) -> None:
    for number in range(5):
        identity, phone = 0xABC000 + number, str(FIRST + number)
        message = service.send(phone).json["message_id"]
        with service.engine.begin() as connection:
            values = {"id": message, "carrier": CARRIER, "reference": response.format(identity)}
            connection.execute(REFERENCE, values)
            written = Receipt(receipt.format(identity), MessageStatus.DELIVERED, None, datetime.now(UTC), phone)
            keep(connection, CARRIER, [written])
    [(name, detail, remedy)] = found(service)
    assert name == "receipt ids of smsc"
    assert detail.startswith("5 of 5 unmatched receipts match")
    assert setting in remedy
    service.execute("UPDATE message SET reference = NULL WHERE carrier = :carrier", carrier=CARRIER)


def test_an_unreadable_receipt_is_reported_at_once_with_its_reason(service: Service) -> None:
    unreadable = [
        Unreadable(b"\0id:1", "not_marked"),
        Unreadable(b"\xff", "malformed"),
        Unreadable(b"", "malformed"),
    ]
    service.transact(keep_unreadable, CARRIER, unreadable)
    malformed, not_marked = found(service)
    assert malformed[0] == not_marked[0] == "unreadable receipts of smsc"
    assert malformed[1].startswith("2 of the last day")
    assert "bulksms carrier unreadable smsc" in malformed[2]
    assert "unmarked_receipts = true" in not_marked[2]
    with service.engine.connect() as connection:
        shown = unreadable_receipts(connection, CARRIER, 10)
        assert [each["text"] for each in shown] == ["", ".", ".id:1"]
        assert unreadable_receipts(connection, "other", 10) == []


def test_what_is_kept_is_bounded_for_each_carrier(service: Service) -> None:
    service.transact(keep_unreadable, "other", [Unreadable(b"1", "malformed")])
    for _ in range(3):
        service.transact(keep_unreadable, CARRIER, [Unreadable(b"x" * 10_000, "malformed")] * (MAX_STORED - 50))
    rows = service.execute(
        "SELECT carrier, count(*), max(length(octets)) FROM unreadable_receipt GROUP BY 1 ORDER BY 1"
    )
    assert [tuple(row) for row in rows] == [("other", 1, 1), (CARRIER, MAX_STORED, MAX_OCTETS)]


@pytest.mark.parametrize(("long_open", "is_found"), [(24, True), (0, False)])
def test_long_messages_without_receipts_beside_short_ones_with_them_are_reported(
    service: Service, long_open: int, is_found: bool
) -> None:
    """Carriers that report only one part of each: jookies/jasmin #1136, kneodev/ksmppd #59."""
    made = [
        service.send(str(FIRST + 500 + number), message).json["message_id"]
        for number, message in enumerate(["x" * 200] * 25 + ["Hi"] * 5)
    ]
    done = text(
        "UPDATE message SET carrier = 'long', status = CAST(:status AS message_status),"
        " submitted_at = clock_timestamp() - interval '2 hours' WHERE id = CAST(:id AS uuid)"
    )
    for number, identity in enumerate(made):
        service.execute(done, id=identity, status="sent" if number < long_open else "delivered")
    names = [name for name, _, remedy in found(service) if 'receipts_of_long_messages = "one"' in remedy]
    assert names == (["receipts of long messages of long"] if is_found else [])
    service.execute("UPDATE message SET carrier = NULL WHERE carrier = 'long'")
