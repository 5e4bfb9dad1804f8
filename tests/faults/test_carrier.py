"""Faults between us and an SMSC, or a carrier over HTTP: nothing is lost, nobody gets two, doubts are few and end.

The SMSC's own books say which phone was given what. A message whose submit got no response is in doubt until its
receipt tells; so after most faults nothing is.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any

import psutil
import pytest

from bulksms.smsc.behavior import GARBAGE, LOST, TAKEN, Decision
from bulksms.smsc.delivery_queue import DeliveryQueue, Receipt
from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import pdu
from tests.faults.ground import Fault
from tests.faults.proxy import Proxy
from tests.harness.house import wait_until
from tests.harness.smsc import SmscPeer, smpp_carrier, smsc_peer

WINDOW = 100
"""Messages that one worker may have unanswered."""
SLOW = 6.0
"""Seconds: more than `response_timeout`, so that a response is late."""


@pytest.fixture
def smsc_settings() -> dict[str, Any]:
    """Of the SMSC (`SmscSettings`); a test that needs others overrides this by `parametrize`."""
    return {}


@pytest.fixture
def carrier_settings() -> dict[str, Any]:
    """Of the carriers file, likewise."""
    return {}


@pytest.fixture
def peer(smsc_settings: dict[str, Any]) -> Iterator[SmscPeer]:
    """The SMSC that messages go to."""
    with smsc_peer(**smsc_settings) as made:
        yield made


@pytest.fixture
def proxy(peer: SmscPeer) -> Iterator[Proxy]:
    """The way to it."""
    with Proxy(peer.port) as made:
        yield made


@pytest.fixture
def settings(folder: Path, proxy: Proxy, carrier_settings: dict[str, Any]) -> dict[str, str]:
    """Settings of the ground."""
    file = folder / "carriers.toml"
    usual = {"rate": 1500, "connect_timeout": 2, "enquire_link": 2}
    file.write_text(smpp_carrier("main", proxy.port, **{**usual, **carrier_settings}))
    return {"CARRIERS_FILE": str(file), "LEASE_SECONDS": "8"}


@pytest.fixture
def fault(fault: Fault, peer: SmscPeer) -> Fault:
    """The fault, judged by the SMSC's books."""
    fault.house.at_carrier = lambda: Counter(map(int, peer.taken().elements()))  # type: ignore[method-assign]
    fault.receipts_are_over = lambda: not peer.smsc.records.counts.receipts_waiting
    return fault


def test_refuses_connections(fault: Fault, proxy: Proxy) -> None:
    with fault.workload():
        proxy.refusing = True
        proxy.cut()
        time.sleep(8)
        proxy.heal()
    fault.check(in_doubt=2 * WINDOW)


def test_never_answers_a_bind(fault: Fault, proxy: Proxy) -> None:
    with fault.workload():
        proxy.blackhole = True
        proxy.cut()
        time.sleep(8)
        proxy.heal()
    fault.check(in_doubt=2 * WINDOW)


def test_refuses_the_bind(fault: Fault, peer: SmscPeer) -> None:
    with fault.workload():
        peer.behave(password="other")
        peer.hang_up()
        wait_until(lambda: peer.smsc.records.counts.refused_binds >= 2, 30, "the refusals")
        before = peer.smsc.records.counts.refused_binds
        time.sleep(12)
        assert peer.smsc.records.counts.refused_binds - before <= 2, "asked at most every 30 s by each worker"
        assert fault.house.scalar("SELECT count(*) FROM message WHERE status = 'failed'") == 0
        peer.behave(password="secret")
    fault.check(in_doubt=2 * WINDOW)


def test_drops_the_connection_again_and_again(fault: Fault, peer: SmscPeer) -> None:
    with fault.workload():
        for _ in range(4):
            peer.hang_up()
            time.sleep(1.5)
    fault.check(in_doubt=4 * 2 * WINDOW)


def test_loses_responses(fault: Fault, peer: SmscPeer) -> None:
    peer.behave(lambda number, phone: LOST if number % 40 == 0 else TAKEN)
    with fault.workload():
        time.sleep(4)
        peer.behave()
    fault.check()
    assert peer.smsc.records.counts.lost > 5


@pytest.mark.parametrize("smsc_settings", [{"slow_time": SLOW, "receipt_delay": 20.0}])
def test_answers_late_on_the_same_connection(fault: Fault, peer: SmscPeer) -> None:
    peer.behave(lambda number, phone: Decision(slow=True) if number % 40 == 0 else TAKEN)
    with fault.workload():
        time.sleep(3)
        peer.behave()
        wait_until(lambda: fault.house.scalar("SELECT count(*) FROM doubt") > 0, 30, "a doubt")
        wait_until(lambda: not fault.house.scalar("SELECT count(*) FROM doubt"), 30, "the late answers")
        assert not peer.smsc.records.counts.receipts_sent, "no receipt has told"
    fault.check()


def throttle(fault: Fault, peer: SmscPeer, status: Status) -> None:
    refused = Decision(status, taken=False)
    with fault.workload():
        peer.behave(lambda number, phone: refused)
        time.sleep(10)
        peer.behave(lambda number, phone: refused if number % 10 == 0 else TAKEN)
        time.sleep(5)
        assert fault.house.scalar("SELECT count(*) FROM message WHERE status = 'failed'") == 0
        peer.behave()
    fault.check()


def test_throttles(fault: Fault, peer: SmscPeer) -> None:
    throttle(fault, peer, Status.ESME_RTHROTTLED)


def test_has_a_full_queue(fault: Fault, peer: SmscPeer) -> None:
    throttle(fault, peer, Status.ESME_RMSGQFUL)


@pytest.mark.parametrize("carrier_settings", [{"window": 4}])
def test_is_slow(fault: Fault, peer: SmscPeer) -> None:
    workers = [psutil.Process(worker.pid) for worker in fault.house.workers]
    with fault.workload():
        before = [worker.memory_info().rss for worker in workers]
        peer.behave(round_trip=1.5)
        time.sleep(10)
        after = [worker.memory_info().rss for worker in workers]
        peer.behave(round_trip=0.0)
    fault.check(in_doubt=0)
    assert all(now < then + 64 * 2**20 for then, now in zip(before, after, strict=True)), "memory is flat"


@pytest.mark.parametrize("smsc_settings", [{"garbage_after": 300}])
def test_sends_garbage(fault: Fault, peer: SmscPeer) -> None:
    with fault.workload():
        time.sleep(5)
        peer.behave(garbage_after=0)
    broken = peer.smsc.records.counts.garbage * 4 // len(GARBAGE) + 4
    fault.check(in_doubt=broken * WINDOW)
    assert peer.smsc.records.counts.garbage > len(GARBAGE)


@pytest.mark.parametrize("smsc_settings", [{"garbage_after": 50}])
def test_answers_with_wrong_numbers(fault: Fault, peer: SmscPeer) -> None:
    sequences = [1, 2, 0, 0x7FFFFFFF, 0xFFFFFFFF, 50, 10**6]
    strangers = [pdu(Command.SUBMIT_SM_RESP, 0, sequence, b"stranger\0") for sequence in sequences]
    peer.smsc.garbage = cycle(strangers)
    with fault.workload():
        time.sleep(5)
        peer.behave(garbage_after=0)
    fault.check()
    attributed = "SELECT count(*) FROM message WHERE reference = 'stranger'"
    assert fault.house.scalar(attributed) == 0, "an answer to nothing is nobody's"


def test_gives_the_same_id_twice(fault: Fault, peer: SmscPeer) -> None:
    numbers = count(2)
    peer.smsc.next_id = lambda: f"{next(numbers) // 2:010x}"  # type: ignore[method-assign]
    with fault.workload():
        time.sleep(3)
    fault.check()


@pytest.mark.parametrize("smsc_settings", [{"answer_ids": "none"}])
def test_gives_no_id(fault: Fault, peer: SmscPeer) -> None:
    with fault.workload():
        time.sleep(3)
    fault.check()


def test_is_silent(fault: Fault, peer: SmscPeer, proxy: Proxy) -> None:
    with fault.workload():
        proxy.half_open()
        time.sleep(8)
        peer.hang_up()  # the SMSC, which waits for answers to its receipts on connections that are dead
    fault.check(in_doubt=4 * WINDOW)


@pytest.mark.parametrize("smsc_settings", [{"garbage_after": 200}])
def test_unbinds_and_sends_unknown_commands(fault: Fault, peer: SmscPeer) -> None:
    alert = pdu(Command.ALERT_NOTIFICATION, 0, 9, b"\1\1254711000000\0\0\0\0")
    kinds = [pdu(Command.UNBIND, 0, 77), alert, pdu(0x0999, 0, 78, b"what?"), pdu(0x80000999, 0, 79)]
    peer.smsc.garbage = cycle(kinds)
    with fault.workload():
        time.sleep(6)
        peer.behave(garbage_after=0)
    fault.check(in_doubt=2 * WINDOW)


def test_sends_receipts_before_responses(fault: Fault, peer: SmscPeer) -> None:
    peer.behave(lambda number, phone: Decision(early=True))
    with fault.workload():
        time.sleep(3)
    fault.check()


def test_sends_contradictory_receipts(fault: Fault, peer: SmscPeer, monkeypatch: pytest.MonkeyPatch) -> None:
    add, seed = DeliveryQueue.add, random.Random(55)

    def five(mailbox: DeliveryQueue, receipts: list[Receipt]) -> None:
        contradictory = [
            receipt._replace(delivered=word) for receipt in receipts for word in (True, False, True, False, True)
        ]
        add(mailbox, seed.sample(contradictory, len(contradictory)))

    monkeypatch.setattr(DeliveryQueue, "add", five)
    with fault.workload():
        time.sleep(2)
    fault.check()
    refunds = (
        "SELECT count(*) FROM (SELECT subject FROM ledger WHERE kind = 'refund' GROUP BY 1 HAVING count(*) > 1) AS t"
    )
    assert fault.house.scalar(refunds) == 0


def test_sends_no_receipt(fault: Fault, peer: SmscPeer) -> None:
    with fault.workload():
        phones = [f"99909{number:07d}" for number in range(200)]
        send = fault.house.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"]
        fault.sends[send] = 200
        fault.ended_otherwise.add(send)
    fault.check()
    response = fault.house.get(f"/sends/{send}")
    assert (response["counts"]["sent"], response["charged"]) == (200, 200), (
        "taken, so charged, and never called delivered"
    )


@pytest.mark.parametrize(
    ("smsc_settings", "carrier_settings"),
    [
        pytest.param({"answer_ids": "decimal"}, {"receipt_id": "hex_to_decimal"}, id="decimal"),
        pytest.param({"answer_ids": "upper"}, {"id_case": "lower"}, id="upper"),
        pytest.param({"answer_ids": "plain"}, {"id_zeros": "strip"}, id="plain"),
    ],
)
def test_writes_ids_in_another_way(fault: Fault, peer: SmscPeer) -> None:
    with fault.workload():
        time.sleep(2)
    fault.check()


def test_floods_with_receipts(fault: Fault, peer: SmscPeer) -> None:
    peer.behave(lambda number, phone: Decision(receipts=10))
    with fault.workload():
        time.sleep(5)
    fault.check()
    assert peer.smsc.records.counts.receipts_answered > 9 * sum(fault.sends.values())


def test_receiver_killed_before_it_stores(fault: Fault, peer: SmscPeer) -> None:
    house = fault.house
    house.more["worker"] = {"CRASHPOINT": "receipts.before_commit:exit:3"}
    house.start_workers(1)
    house.more["worker"] = {}
    armed = house.workers[-1]
    with fault.workload(progress=False):
        wait_until(lambda: armed.exit_code() is not None, 60, "the crash")
        house.workers.remove(armed)
        armed.stop()
    fault.check(in_doubt=WINDOW)
