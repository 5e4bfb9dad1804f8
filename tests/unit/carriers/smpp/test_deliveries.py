"""Sets of receipts: one that arrives soon after the first shares its commit, and none waits for more than that."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from psycopg import DataError

from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import Message, message_body
from shared.carriers.unreadable import Unreadable
from shared.inbound import Inbound
from tests.harness.what_we_read import table
from tests.unit.carriers.smpp.making import USUAL, KeptInbox, config, usual_body
from worker.carriers.base import Receipt
from worker.carriers.smpp import deliveries as module
from worker.carriers.smpp.counters import Counters
from worker.carriers.smpp.deliveries import Deliveries
from worker.carriers.smpp.multipart import MultipartMessage, MultipartMessages
from worker.carriers.smpp.session import Session

GATHER_SECONDS, GAP_SECONDS = 2.0, 0.4
PHONE = "254711000000"
RECEIPT_CLASS = 4


class CarrierSession:
    """A session that keeps what it would write to the carrier."""

    def __init__(self) -> None:
        self.written = b""
        self.ended_at: float | None = None
        self.heard_at = 0.0

    def answer(self, data: bytes) -> None:
        self.written += data

    def wait_for_answers(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.written) < 17 * count:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@contextmanager
def started(multiparts: MultipartMessages | None = None, **inbox: Any) -> Iterator[Deliveries]:
    deliveries = Deliveries(config(), Counters(), multiparts or MultipartMessages())
    deliveries.start(KeptInbox(**inbox))
    try:
        yield deliveries
    finally:
        deliveries.stop()


def deliver(deliveries: Deliveries, session: CarrierSession, *bodies: bytes) -> None:
    """Deliver them one after the other, each when the one before it has been answered."""
    for number, body in enumerate(bodies, 1):
        deliveries.put(cast(Session, session), Command.DELIVER_SM, number, body)
        session.wait_for_answers(number)


class Carrier(threading.Event):
    """Gives receipts, and sees in which sets they are stored, and when: time passes only where a set is gathered.

    It is the event on which the deliveries wait for more; in each wait one more receipt comes, if any is left.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.left = 0
        self.session = CarrierSession()
        self.deliveries = Deliveries(config(), Counters(), MultipartMessages())
        self.deliveries._stop = self
        self.sets: list[tuple[int, float]] = []
        self.deliveries.start(KeptInbox(store_receipts=self._store))

    def wait(self, timeout: float | None = None) -> bool:
        """Let this time pass."""
        self.now += timeout or 0.0
        if self.left:
            self.left -= 1
            self.give(self.left)
        return self.is_set()

    def _store(self, receipts: list[Receipt]) -> None:
        self.sets.append((len(receipts), self.now))

    def give(self, number: int) -> None:
        self.deliveries.put(cast(Session, self.session), Command.DELIVER_SM, number, usual_body())

    def wait_for_sets(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.sets) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def carrier(monkeypatch: pytest.MonkeyPatch) -> Iterator[Carrier]:
    monkeypatch.setattr(module, "GATHER_SECONDS", GATHER_SECONDS)
    monkeypatch.setattr(module, "GAP_SECONDS", GAP_SECONDS)
    monkeypatch.setattr(module, "STORE_TIME", 60.0)
    made = Carrier()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: made.now))
    yield made
    made.deliveries.stop()


def test_a_part_whose_receipt_could_not_be_stored_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The carrier delivers it again, and then it completes the message."""
    monkeypatch.setattr(module, "STORE_TIME", -1.0)
    multiparts, long = MultipartMessages(), MultipartMessage(2, PHONE)
    for number in range(2):
        multiparts.add(f"p{number}", number, long)
    stored: list[str] = []
    fails = iter([True])

    def store(receipts: list[Receipt]) -> None:
        if next(fails, False):
            raise OSError("the database is away")
        stored.extend(receipt.reference for receipt in receipts)

    with started(multiparts, store_receipts=store) as deliveries:
        deliver(deliveries, CarrierSession(), *(usual_body(identity=part) for part in (b"p0", b"p1", b"p1")))
    assert stored == ["p0"]


@pytest.mark.parametrize("kind", [RECEIPT_CLASS, 0])
def test_what_the_database_refuses_is_acknowledged_once_it_is_kept(monkeypatch: pytest.MonkeyPatch, kind: int) -> None:
    """Until then the carrier keeps it."""
    monkeypatch.setattr(module, "STORE_TIME", -1.0)
    kept: list[Unreadable] = []
    fails = iter([True])

    def refuse(found: object) -> None:
        raise DataError("refused")

    def keep(found: list[Unreadable]) -> None:
        if found and next(fails, False):
            raise OSError("the database is away")
        kept.extend(found)

    session = CarrierSession()
    body = message_body(Message(PHONE, "ACME", USUAL.encode() if kind else b"Hi", esm_class=kind))
    with started(store_receipts=refuse, store_inbound=refuse, store_unreadable=keep) as deliveries:
        deliver(deliveries, session, body, body)
    statuses = [int.from_bytes(session.written[at + 8 : at + 12], "big") for at in (0, 17)]
    assert statuses == [Status.ESME_RX_T_APPN, Status.ESME_ROK]
    assert kept == [Unreadable(body, "refused")]
    assert deliveries._counters.unreadable == 1


def test_receipts_that_come_soon_after_each_other_are_in_one_set(carrier: Carrier) -> None:
    carrier.left = 2
    carrier.give(3)
    carrier.wait_for_sets(1)
    assert carrier.sets[0][0] == 3
    carrier.deliveries.stop()
    assert len(carrier.session.written) == 3 * 17


def delivered(row: dict[str, str]) -> bytes:
    """The body of the deliver_sm in a row of the page."""
    words = row["Text"].removeprefix("UTF-16 ")
    octets = words.encode() if words == row["Text"] else words.encode("utf-16-be")
    message = Message(PHONE, "ACME", octets, int(row["esm_class"], 0), int(row["data_coding"], 0))
    return message_body(message) + bytes.fromhex(row["Parameters"])


@pytest.mark.parametrize("row", table("Receipts"), ids=lambda row: row["What"])
def test_a_delivery_is_read_as_the_page_says(row: dict[str, str]) -> None:
    """And acknowledged: with a generic_nack or an error, the carrier would deliver it again for days."""
    found: list[str] = []

    def receipts(stored: list[Receipt]) -> None:
        found.extend(f"{each.status} {each.error or ''}".strip() for each in stored)

    session = CarrierSession()

    def inbound(stored: list[Inbound]) -> None:
        found.extend("inbound" for _ in stored)

    with started(store_receipts=receipts, store_inbound=inbound) as deliveries:
        deliver(deliveries, session, delivered(row))
    assert found == [row["Read as"]]
    assert session.written[8:12] == bytes(4), "ESME_ROK"


@pytest.mark.parametrize(
    ("ends", "heard_since", "stored"),
    [(True, False, 1), (True, True, 2), (False, False, 2)],
    ids=["the connection was lost", "the carrier went on, and unbound", "it goes on"],
)
def test_a_message_that_comes_again_after_a_lost_response_is_stored_once(
    ends: bool, heard_since: bool, stored: int
) -> None:
    """As funbox/smppex #30 and JamaaSMPP #11 report it."""
    kept: list[str] = []
    first, second = CarrierSession(), CarrierSession()
    body = message_body(Message(PHONE, "254204000000", b"YES 2 tickets"))
    with started(store_inbound=lambda found: kept.extend(message.text for message in found)) as deliveries:
        deliver(deliveries, first, body)
        first.ended_at = time.monotonic() if ends else None
        first.heard_at = time.monotonic() if heard_since else 0.0
        deliver(deliveries, second, body)
    assert kept == ["YES 2 tickets"] * stored


def test_a_broken_end_is_kept_for_the_operator() -> None:
    kept: list[Unreadable] = []
    with started(store_unreadable=kept.extend) as deliveries:
        deliver(deliveries, CarrierSession(), usual_body() + b"\0", usual_body() + b"\x14\x18\0\x08abc")
    assert [each.reason for each in kept] == ["broken_parameters"]
