"""The SMPP driver against the simulated SMSC, over a real connection."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bulksms.smsc.server import running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.alphabets import decode
from shared.carriers.smpp.constants import Command, Tag
from shared.carriers.smpp.pdu import read_message, split_udh
from shared.lifecycle import MessageStatus
from tests.harness.house import wait_until
from tests.harness.response_timeout import submit_until
from tests.services.carriers.driven import (
    ACCEPTED,
    IN_DOUBT,
    PATIENCE,
    THROTTLED,
    Driven,
    driven,
    phones,
    response_counts,
)
from tests.unit.carriers.smpp.making import KeptInbox, message_group
from worker.carriers.base import Receipt, ResponseKind


class Handset:
    """Puts messages together from what the SMSC took, by nothing but what is on the wire."""

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
        self.totals: dict[tuple[str, int], int] = {}
        self.segments = 0

    def __call__(self, body: bytes, identity: str, verdict: str) -> None:
        message = read_message(Command.SUBMIT_SM, body)
        header, octets = split_udh(message)
        reference, total, number = -1, 1, 1
        if header:
            reference, total, number = header[2], header[3], header[4]
        elif Tag.SAR_MSG_REF_NUM in message.tlvs:
            reference = int.from_bytes(message.tlvs[Tag.SAR_MSG_REF_NUM], "big")
            total, number = message.tlvs[Tag.SAR_TOTAL_SEGMENTS][0], message.tlvs[Tag.SAR_SEGMENT_SEQNUM][0]
        self.segments += 1
        key = (message.destination, reference)
        self.parts[key][number] = decode(octets, message.data_coding)
        self.totals[key] = total

    def shown(self) -> Counter[tuple[str, str]]:
        for key, parts in self.parts.items():
            assert sorted(parts) == list(range(1, self.totals[key] + 1))
        return Counter((phone, "".join(parts[n] for n in sorted(parts))) for (phone, _), parts in self.parts.items())


TEXTS = [
    "Hi",
    "a" * 160,
    "a" * 161,
    "€" * 80,
    "a" * 152 + "€" * 100,
    "я" * 70,
    "я" * 71,
    "я" * 66 + "😀" * 50,
    "x" * 1600,
]


@pytest.mark.parametrize("style", ["udh", "sar", "payload"])
def test_texts_of_every_kind_arrive_unchanged_and_every_receipt_is_matched(style: str) -> None:
    handset = Handset()
    message_groups = [message_group(text, phones(20, f"2547{number}0")) for number, text in enumerate(TEXTS)]
    with driven(handset, long_messages=style, window=50) as all_:
        outcomes = all_.submit(*message_groups)
        assert response_counts(outcomes) == {ACCEPTED: 20 * len(TEXTS)}
        assert handset.shown() == Counter((phone, each.text) for each in message_groups for phone in each.phones)
        wait_until(lambda: len(all_.inbox.receipts) >= len(outcomes), PATIENCE, "the receipts")
        assert {receipt.reference: receipt.status for receipt in all_.inbox.receipts} == {
            outcome.reference: MessageStatus.DELIVERED for outcome in outcomes
        }
        wait_until(lambda: all_.smsc.records.counts.receipts_waiting == 0, PATIENCE, "the answers to the receipts")
        assert len(all_.inbox.receipts) == len(outcomes)
        if style != "payload":
            assert handset.segments == sum(each.segments * len(each.phones) for each in message_groups)


def hold_slow_responses(all_: Driven, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What the SMSC would write after its slow time."""
    held: list[Callable[[], None]] = []
    call_later = all_.smsc.loop.call_later

    def hold(seconds: float, write: Any, *arguments: Any) -> Any:
        if seconds < all_.smsc.settings.slow_time:
            return call_later(seconds, write, *arguments)
        held.append(partial(write, *arguments))
        return None

    monkeypatch.setattr(all_.smsc.loop, "call_later", hold)
    return held


def test_every_magic_phone_has_its_outcome() -> None:
    with driven(smsc={"slow_time": 0.2}) as all_:
        group = message_group("x", [f"999{number:02d}000000" for number in range(1, 11)])
        outcomes = submit_until(lambda: all_.unanswered() == 2, all_.carrier, group)
        assert [(outcome.response, outcome.error) for outcome in outcomes] == [
            (ACCEPTED, None),
            (ResponseKind.REJECTED, "ESME_RINVDSTADR"),
            (THROTTLED, "ESME_RTHROTTLED"),
            (ACCEPTED, None),
            (IN_DOUBT, "no_response"),
            (IN_DOUBT, "no_response"),
            (ACCEPTED, None),
            (ACCEPTED, None),
            (ACCEPTED, None),
            (ResponseKind.FAILED, "ESME_RSYSERR"),
        ]
        (again,) = all_.submit(message_group("x", ["99903000000"]))
        assert again.response == ACCEPTED
        wait_until(lambda: len(all_.inbox.receipts) == 7, PATIENCE, "the receipts")  # 01, 03, 04, 05, 07 and twice 08
        by_phone = Counter((receipt.phone, receipt.status.value) for receipt in all_.inbox.receipts)
        assert by_phone == {
            ("99901000000", "undelivered"): 1,
            ("99903000000", "delivered"): 1,
            ("99904000000", "delivered"): 1,
            ("99905000000", "delivered"): 1,
            ("99907000000", "delivered"): 1,
            ("99908000000", "delivered"): 2,
        }


def test_a_response_that_comes_too_late_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with driven(smsc={"slow_time": 3600.0}) as all_:
        slow = message_group("x", ["254711000000", "99904000000"])
        later = hold_slow_responses(all_, monkeypatch)
        fast, doubt = submit_until(lambda: all_.unanswered() == 1, all_.carrier, slow)
        assert (fast.response, doubt.response) == (ACCEPTED, IN_DOUBT)
        (write,) = later
        all_.smsc.loop.call_soon_threadsafe(write)
        wait_until(lambda: len(all_.inbox.late) == 1, PATIENCE, "the late answer")
        assert all_.inbox.late[0].message_id == slow.ids[1]
        assert all_.inbox.late[0].outcome.response == ACCEPTED
        wait_until(lambda: len(all_.inbox.receipts) == 2, PATIENCE, "the receipts")
        assert all_.inbox.late[0].outcome.reference in {receipt.reference for receipt in all_.inbox.receipts}


def test_receipts_are_answered_only_when_they_are_stored() -> None:
    stored: list[Receipt] = []
    may_store = threading.Event()
    storing = threading.Event()

    def store(receipts: list[Receipt]) -> None:
        storing.set()
        if not may_store.is_set():
            raise RuntimeError("the database is away")
        stored.extend(receipts)

    with ExitStack() as stack:
        smsc = stack.enter_context(running(SmscSettings(port=0, receipt_delay=0)))
        all_ = Driven(smsc)
        stack.callback(all_.carrier.close)
        all_.carrier.open(KeptInbox(store_receipts=store))
        all_.bound()
        all_.submit(message_group("x", phones(30)))
        assert storing.wait(PATIENCE)
        assert response_counts(all_.submit(message_group("y", phones(30)))) == {
            ACCEPTED: 30
        }  # submits do not wait for the database
        assert smsc.records.counts.receipts_answered == 0
        may_store.set()
        wait_until(lambda: smsc.records.counts.receipts_answered == 60, PATIENCE, "the answers")
        assert len(stored) == 60


def test_no_text_is_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level("DEBUG")
    with driven(smsc={"garbage_after": 3, "drop_after": 20}) as all_:
        for _ in range(4):
            all_.submit(message_group("canary text", ["254711000000"] * 10))
            all_.bound()
    assert caplog.records
    assert "canary" not in caplog.text
    assert "254711000000" not in caplog.text
    assert "secret" not in caplog.text
