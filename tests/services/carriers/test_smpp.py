"""The SMPP driver against the simulated SMSC, over a real connection."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bulksms.local.ports import free_port
from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.alphabets import decode
from shared.carriers.smpp.constants import Command, Tag
from shared.carriers.smpp.pdu import read_message, split_udh
from shared.lifecycle import MessageStatus
from tests.harness.answer_time import submit_until
from tests.harness.house import wait_until
from tests.unit.carriers.smpp.making import Doorkeeper, Quota, config, message_group
from worker.carriers.base import (
    LateResponse,
    MessageGroup,
    Outcome,
    Receipt,
    ResponseKind,
    UnlimitedPace,
)
from worker.carriers.smpp import SmppCarrier, link

ACCEPTED, THROTTLED, IN_DOUBT = ResponseKind.ACCEPTED, ResponseKind.THROTTLED, ResponseKind.IN_DOUBT
PATIENCE = 60.0
ENDLESS = 600.0
"""An answer time that nobody waits for."""


class Driven:
    """A driver, an SMSC, and what came of them."""

    def __init__(self, smsc: Smsc, **settings: Any) -> None:
        self.smsc = smsc
        self.receipts: list[Receipt] = []
        self.late: list[LateResponse] = []
        self.carrier = SmppCarrier(config(**{"port": smsc.port, "answer_time": PATIENCE, **settings}))

    def open(self) -> None:
        self.carrier.open(self.receipts.extend, self.late.extend)
        self.bound()

    def bound(self) -> None:
        wait_until(lambda: self.carrier.health.state == "bound", PATIENCE, "a bind")

    def submit(self, *message_groups: MessageGroup) -> list[Outcome]:
        return self.carrier.submit(list(message_groups))

    def unanswered(self) -> int:
        """Submits whose response is awaited."""
        (link,) = self.carrier._links
        assert link._session is not None
        return link._session.windows.unanswered()

    def drop_all(self) -> None:
        self.smsc.loop.call_soon_threadsafe(self.smsc.drop_all)


@contextmanager
def driven(watch: Any = None, smsc: dict[str, Any] | None = None, **settings: Any) -> Iterator[Driven]:
    """A driver bound to an SMSC, each with its own settings."""
    with running(SmscSettings(**{"port": 0, "receipt_delay": 0.05, **(smsc or {})}), watch) as server:
        made = Driven(server, **settings)
        try:
            made.open()
            yield made
        finally:
            made.carrier.close()


def phones(count: int, prefix: str = "2547") -> list[str]:
    return [f"{prefix}{number:08d}" for number in range(count)]


def response_counts(outcomes: list[Outcome]) -> Counter[ResponseKind]:
    return Counter(outcome.response for outcome in outcomes)


def test_it_works() -> None:
    with driven() as all_:
        (outcome,) = all_.submit(message_group("Hello", ["254711000000"]))
        assert outcome.response == ACCEPTED
        wait_until(lambda: len(all_.receipts) == 1, PATIENCE, "the receipt")
        (receipt,) = all_.receipts
        assert (receipt.reference, receipt.status) == (outcome.reference, MessageStatus.DELIVERED)
        assert (receipt.phone, receipt.sender_id) == ("254711000000", "ACME")


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
        wait_until(lambda: len(all_.receipts) >= len(outcomes), PATIENCE, "the receipts")
        assert {receipt.reference: receipt.status for receipt in all_.receipts} == {
            outcome.reference: MessageStatus.DELIVERED for outcome in outcomes
        }
        wait_until(lambda: all_.smsc.records.counts.receipts_waiting == 0, PATIENCE, "the answers to the receipts")
        assert len(all_.receipts) == len(outcomes)
        if style != "payload":
            assert handset.segments == sum(each.segments * len(each.phones) for each in message_groups)


def test_two_long_messages_to_one_phone_are_not_mixed() -> None:
    handset = Handset()
    texts = ["a" * 200, "b" * 200, "c" * 200]
    with driven(handset) as all_:
        all_.submit(*[message_group(text, ["254711000000"]) for text in texts])
    assert handset.shown() == Counter(("254711000000", text) for text in texts)


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
            (IN_DOUBT, "no_answer"),
            (IN_DOUBT, "no_answer"),
            (ACCEPTED, None),
            (ACCEPTED, None),
            (ACCEPTED, None),
            (ResponseKind.FAILED, "ESME_RSYSERR"),
        ]
        (again,) = all_.submit(message_group("x", ["99903000000"]))
        assert again.response == ACCEPTED
        wait_until(lambda: len(all_.receipts) == 7, PATIENCE, "the receipts")  # 01, 03, 04, 05, 07 and twice 08
        by_phone = Counter((receipt.phone, receipt.status.value) for receipt in all_.receipts)
        assert by_phone == {
            ("99901000000", "undelivered"): 1,
            ("99903000000", "delivered"): 1,
            ("99904000000", "delivered"): 1,
            ("99905000000", "delivered"): 1,
            ("99907000000", "delivered"): 1,
            ("99908000000", "delivered"): 2,
        }


def test_a_phone_breaks_the_connection_and_another_brings_garbage() -> None:
    with driven() as all_:
        before, broken = all_.submit(message_group("x", ["254711000000", "99911000000"]))
        assert (before.response, broken.response) == (IN_DOUBT, IN_DOUBT), "what came with it has no answer either"
        all_.bound()
        assert response_counts(all_.submit(message_group("x", ["99912000000", "254711000001"]))) == {ACCEPTED: 2}
        counts = all_.smsc.records.counts
        assert (counts.drops, counts.garbage, counts.duplicates) == (1, 1, 0)


def test_lost_responses_are_in_doubt_and_do_not_stop_the_rest() -> None:
    with driven(smsc={"lose": 0.2, "seed": 3}, window=40) as all_:
        counts = all_.smsc.records.counts
        for taken in (40, 80, 120):
            lost = counts.lost

            def all_have_come(taken: int = taken, lost: int = lost) -> bool:
                """Every response that the carrier has given to these 40."""
                return counts.lost + counts.accepted == taken and all_.unanswered() == counts.lost - lost

            outcomes = submit_until(all_have_come, all_.carrier, message_group("x", phones(40)))
            assert response_counts(outcomes)[IN_DOUBT] > 0
            assert response_counts(outcomes)[ACCEPTED] > 0
            assert set(response_counts(outcomes)) == {IN_DOUBT, ACCEPTED}
        assert counts.lost + counts.accepted == 120
        assert all_.carrier.health.counters.given_up == counts.lost


def test_when_the_connection_breaks_no_message_leaves_twice() -> None:
    """What was throttled goes again, as the service does it; what is in doubt does not."""
    taken: Counter[str] = Counter()

    def watch(body: bytes, identity: str, verdict: str) -> None:
        taken[read_message(Command.SUBMIT_SM, body).destination] += bool(identity)

    with driven(watch, smsc={"drop_after": 130}, window=50) as all_:
        results: dict[str, ResponseKind] = {}
        left = phones(600)
        deadline = time.monotonic() + 3 * PATIENCE
        while left:
            assert time.monotonic() < deadline
            window, left = left[:50], left[50:]
            for phone, outcome in zip(window, all_.submit(message_group("x", window)), strict=True):
                if outcome.response == THROTTLED:
                    assert outcome.error == "not_connected"
                    left.append(phone)
                else:
                    results[phone] = outcome.response
    assert all_.smsc.records.counts.drops >= 3
    assert len(results) == 600
    assert max(taken.values()) == 1
    assert {phone for phone, response in results.items() if response == ACCEPTED} <= set(taken)
    assert set(taken) <= set(results)
    assert 0 < Counter(results.values())[IN_DOUBT] <= all_.smsc.records.counts.drops * 50


def test_messages_above_the_rate_are_throttled_and_long_ones_are_finished() -> None:
    handset_parts: dict[str, set[int]] = defaultdict(set)

    def watch(body: bytes, identity: str, verdict: str) -> None:
        message = read_message(Command.SUBMIT_SM, body)
        if verdict == "accepted" and message.esm_class & 0x40:
            handset_parts[message.destination].add(message.short_message[5])

    with driven(watch, smsc={"rate": 50}, window=200) as all_:
        plain = response_counts(all_.submit(message_group("x", phones(500))))
        assert plain[ACCEPTED] >= 50
        assert plain[THROTTLED] == 500 - plain[ACCEPTED] > 0
        long = all_.submit(message_group("y" * 400, phones(10, "2557")))
        assert IN_DOUBT not in response_counts(long)
        for phone, outcome in zip(phones(10, "2557"), long, strict=True):
            assert handset_parts.get(phone, set()) == ({1, 2, 3} if outcome.response == ACCEPTED else set())


def test_a_response_that_comes_too_late_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with driven(smsc={"slow_time": 3600.0}) as all_:
        slow = message_group("x", ["254711000000", "99904000000"])
        later = hold_slow_responses(all_, monkeypatch)
        fast, doubt = submit_until(lambda: all_.unanswered() == 1, all_.carrier, slow)
        assert (fast.response, doubt.response) == (ACCEPTED, IN_DOUBT)
        (write,) = later
        all_.smsc.loop.call_soon_threadsafe(write)
        wait_until(lambda: len(all_.late) == 1, PATIENCE, "the late answer")
        assert all_.late[0].message_id == slow.ids[1]
        assert all_.late[0].outcome.response == ACCEPTED
        wait_until(lambda: len(all_.receipts) == 2, PATIENCE, "the receipts")
        assert all_.late[0].outcome.reference in {receipt.reference for receipt in all_.receipts}


def test_a_slow_carrier_is_only_slow() -> None:
    with driven(smsc={"round_trip": 0.2}, window=50) as all_:
        assert response_counts(all_.submit(message_group("x", phones(200)))) == {ACCEPTED: 200}


def test_garbage_is_survived_and_no_message_leaves_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "FIRST_WAIT", 0.02)  # many connections end, one after the other
    with driven(smsc={"garbage_after": 10}, window=10) as all_:
        seen: Counter[ResponseKind] = Counter()
        for number in range(30):
            all_.bound()
            seen += response_counts(all_.submit(message_group("x", phones(10, f"2547{number:02d}"))))
        counts = all_.smsc.records.counts
        assert counts.garbage >= 20
        assert counts.duplicates == 0
        assert seen[ACCEPTED] >= 200
        assert all_.carrier.health.counters.malformed > 0
        assert all_.carrier.health.counters.unmatched_responses > 0


def test_several_threads_share_one_connection() -> None:
    with driven(smsc={"receipts": False}, window=64) as all_, ThreadPoolExecutor(8) as pool:
        work = [
            pool.submit(all_.submit, message_group(f"t{thread}", phones(300, f"254{thread}"))) for thread in range(8)
        ]
        references = [outcome.reference for done in work for outcome in done.result(2 * PATIENCE)]
        assert len(set(references)) == 2400
        assert None not in references
        assert all_.smsc.records.counts.duplicates == 0
        assert all_.smsc.records.counts.binds == 1


def test_messages_that_wait_for_a_limit_leave_the_window_to_others() -> None:
    limit = Doorkeeper(left=1)
    with driven(window=4) as all_, ThreadPoolExecutor(8) as pool:
        limited = [
            pool.submit(all_.carrier.submit, [message_group("x", phones(3, f"254{n}"))], limit) for n in range(8)
        ]
        assert limit.waiting.wait(PATIENCE)
        assert response_counts(all_.submit(message_group("x", phones(40, "255")))) == {ACCEPTED: 40}
        limit.opened.set()
        assert sum((response_counts(done.result(PATIENCE)) for done in limited), Counter()) == {ACCEPTED: 24}


def test_messages_that_a_limit_holds_too_long_are_not_submitted() -> None:
    with driven() as all_:
        outcomes = all_.carrier.submit([message_group("x", phones(5))], Quota(left=2))
        assert [outcome.response for outcome in outcomes] == [ACCEPTED] * 2 + [THROTTLED] * 3
        assert [outcome.is_unsubmitted for outcome in outcomes] == [False] * 2 + [True] * 3
        assert all_.smsc.records.counts.submits == 2


@pytest.mark.parametrize(("text", "parts"), [("x", 1), ("x" * 200, 2)])
def test_a_pace_and_a_limit_have_until_the_end_of_the_answer_time(text: str, parts: int) -> None:
    pace, limit = Quota(left=parts), Quota(left=parts)
    with driven() as all_:
        all_.carrier.pace = pace
        before = time.monotonic()
        all_.carrier.submit([message_group(text, phones(1))], limit)
        after = time.monotonic()
    for deadlines in (pace.deadlines, limit.deadlines):
        assert len(deadlines) == parts
        assert before + PATIENCE <= min(deadlines) == max(deadlines) <= after + PATIENCE


def test_only_responses_to_submitted_messages_are_waited_for() -> None:
    """As when a worker is asked to stop: the pace lets nothing more leave, long before the answer time is over."""
    with driven(window=4, answer_time=ENDLESS) as all_, ThreadPoolExecutor(1) as pool:
        all_.carrier.pace = Quota(left=2)
        outcomes = pool.submit(all_.submit, message_group("x", phones(5))).result(PATIENCE)
        assert response_counts(outcomes) == {ACCEPTED: 2, THROTTLED: 3}
        assert all_.smsc.records.counts.submits == 2
        all_.carrier.pace = UnlimitedPace()
        assert response_counts(all_.submit(message_group("x", phones(40)))) == {ACCEPTED: 40}, (
            "the room of the others is free again"
        )


def test_two_binds_do_the_work_of_one() -> None:
    with driven(bind="transmitter+receiver") as all_:
        outcomes = all_.submit(message_group("x" * 200, phones(50)), message_group("x", phones(50)))
        assert response_counts(outcomes) == {ACCEPTED: 100}
        wait_until(lambda: len(all_.receipts) == 100, PATIENCE, "the receipts")
        assert {receipt.reference for receipt in all_.receipts} == {outcome.reference for outcome in outcomes}
        assert all_.smsc.records.counts.binds == 2


def test_without_a_carrier_everything_is_throttled_soon() -> None:
    carrier = SmppCarrier(config(port=free_port(), answer_time=ENDLESS))
    carrier.open(lambda receipts: None, lambda late: None)
    try:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(carrier.submit, [message_group("x", phones(3)), message_group("y" * 200, phones(2))])
            outcomes = done.result(PATIENCE)
        assert [(outcome.response, outcome.error) for outcome in outcomes] == [(THROTTLED, "not_connected")] * 5
        unbound = carrier.health
        assert unbound.state == "connecting"
    finally:
        carrier.close()
    assert carrier.health.state == "closed"


def test_refused_credentials_suspend_the_carrier() -> None:
    with running(SmscSettings(port=0, password="other")) as smsc:
        all_ = Driven(smsc)
        all_.carrier.open(all_.receipts.extend, all_.late.extend)
        try:
            wait_until(lambda: all_.carrier.health.state == "suspended", PATIENCE, "the suspension")
            assert all_.carrier.health.error == "ESME_RINVPASWD"
            assert response_counts(all_.submit(message_group("x", phones(2)))) == {THROTTLED: 2}
            assert smsc.records.counts.refused_binds == 1
        finally:
            all_.carrier.close()


def test_it_connects_again_and_goes_on() -> None:
    with driven() as all_:
        assert response_counts(all_.submit(message_group("x", phones(5)))) == {ACCEPTED: 5}
        all_.drop_all()
        wait_until(lambda: all_.smsc.records.counts.binds == 2, PATIENCE, "the second bind")
        all_.bound()
        assert response_counts(all_.submit(message_group("y", phones(5)))) == {ACCEPTED: 5}


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
        all_.carrier.open(store, all_.late.extend)
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


def test_receipts_that_were_not_answered_come_again_after_a_break() -> None:
    with driven(smsc={"receipt_delay": 0.5, "receipt_window": 10}) as all_:
        outcomes = all_.submit(message_group("x", phones(50)))
        all_.drop_all()
        wait_until(lambda: len({receipt.reference for receipt in all_.receipts}) == 50, PATIENCE, "the receipts")
        assert {receipt.reference for receipt in all_.receipts} == {outcome.reference for outcome in outcomes}


def test_receipts_that_wait_come_after_the_response_to_the_bind() -> None:
    with driven(smsc={"receipt_delay": 0.5, "round_trip": 0.2}) as all_:
        outcomes = all_.submit(message_group("x", phones(20)))
        assert response_counts(outcomes) == {ACCEPTED: 20}
        all_.drop_all()
        wait_until(lambda: all_.smsc.records.counts.binds == 2, PATIENCE, "the second bind")
        wait_until(lambda: len({receipt.reference for receipt in all_.receipts}) == 20, PATIENCE, "the receipts")
        assert all_.carrier.health.counters.connections == 2


def test_nothing_is_submitted_after_closing() -> None:
    with driven() as all_:
        all_.submit(message_group("x", phones(5)))
        all_.carrier.close()
        assert response_counts(all_.submit(message_group("y", phones(5)))) == {THROTTLED: 5}
        assert all_.smsc.records.counts.submits == 5


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
