"""Faults of a carrier over HTTP that answers wrongly, or not at all. What it may have taken waits for its receipt."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.carriers import HttpCarrierPeer, http_carrier_peer
from tests.faults.ground import Fault
from tests.harness.house import wait_until
from tests.harness.http_carrier import Reply, json_reply

BROKEN = Reply(body=b'{"messages": [{"to"')
AFTER_ACCEPTING = json_reply({"error": "oops"}, 500)
RESET = Reply(raw=b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"messages": [', cut=True)
WAIT = json_reply({}, 429, Retry_After="1")


@pytest.fixture
def peer(folder: Path) -> Iterator[HttpCarrierPeer]:
    """The carrier that messages go to."""
    with http_carrier_peer(folder) as made:
        yield made


@pytest.fixture
def settings(peer: HttpCarrierPeer) -> dict[str, str]:
    """Settings of the ground."""
    return {"CARRIERS_FILE": str(peer.file), "LEASE_SECONDS": "8"}


@pytest.fixture
def fault(fault: Fault, peer: HttpCarrierPeer) -> Fault:
    """The fault, judged by the carrier's books."""
    peer.api_port = fault.house.port
    fault.house.at_carrier = lambda: Counter(peer.given)  # type: ignore[method-assign]
    fault.receipts_are_over = lambda: not peer.undelivered
    return fault


@pytest.mark.parametrize(
    "reply",
    [pytest.param(reply, id=id) for id, reply in (("json", BROKEN), ("500", AFTER_ACCEPTING), ("reset", RESET))],
)
def test_takes_messages_and_sends_wrong_responses(fault: Fault, peer: HttpCarrierPeer, reply: Reply) -> None:
    peer.mood = lambda number, request: reply if number % 4 == 0 else None
    with fault.workload():
        wait_until(lambda: peer.request_count > 60, 60, "the requests")
        peer.mood = None
    fault.check()


def test_asks_to_wait(fault: Fault, peer: HttpCarrierPeer) -> None:
    with fault.workload():
        count = peer.request_count
        peer.refuse = lambda number, request: WAIT
        wait_until(lambda: peer.request_count > count + 1, 60, "the requests")
        peer.refuse = None
    fault.check()
