"""Two carriers: what one refuses the other takes; what one may have taken the other never gets."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bulksms.smsc.behavior import Decision
from shared.audit.check import audit
from shared.carriers.smpp.constants import Status
from tests.carriers.ground import phones, service
from tests.harness.house import House, wait_until
from tests.harness.smsc import SmscPeer, smpp_carrier, smsc_peer

OPENED = "SELECT count(*) FROM carrier_report WHERE carrier = 'one' AND state IN ('open', 'probing')"
DOUBTS_ELSEWHERE = "SELECT count(*) FROM doubt WHERE carrier <> 'one'"


@contextmanager
def two(folder: Path) -> Iterator[tuple[SmscPeer, SmscPeer, House]]:
    """The service with the carriers one and two, in that order."""
    with smsc_peer() as one, smsc_peer() as two:
        both = "".join(smpp_carrier(name, peer.port, rate=400) for name, peer in (("one", one), ("two", two)))
        with service(folder, both, 2) as house:
            house.new_account()
            yield one, two, house


def bulk(house: House, numbers: list[str]) -> str:
    return str(house.post("/sms/send-bulk", sender_id="ACME", phones=numbers, message="Hi")["send_id"])


def attempts(house: House, send: str) -> list[list[tuple[str, str]]]:
    """The carrier and the outcome of each attempt, for each message of the send, in order."""
    messages = [house.get(f"/messages/{each['message_id']}") for each in house.get(f"/sends/{send}/messages")["data"]]
    return [[(attempt["carrier"], attempt["answer"]) for attempt in message["attempts"]] for message in messages]


@pytest.mark.carriers
def test_one_carrier_takes_what_the_other_refuses_and_nobody_gets_a_message_twice(tmp_path: Path) -> None:
    with two(tmp_path) as (one, other, house):
        one.behave(lambda number, phone: Decision(Status.ESME_RSYSERR, taken=False))
        refused = phones(200)
        send = bulk(house, refused)
        house.wait_for_end(120)
        assert other.taken() == dict.fromkeys(refused, 1)
        assert not one.taken()
        assert [("one", "failed"), ("two", "accepted")] in attempts(house, send)
        wait_until(lambda: house.scalar(OPENED), 30, "the breaker")

        one.behave()
        more = iter(phones(1000, 254790000000))

        def tried_again() -> bool:
            house.post("/sms/send", sender_id="ACME", phone=next(more), message="Hi")
            return bool(one.taken())

        wait_until(tried_again, 90, "a message by the first carrier")

        send = bulk(house, numbers := phones(1200, 254800000000))
        wait_until(lambda: len(one.taken()) > 200, 60, "the first messages")
        one.stop()
        house.wait_for_end(120)
        counts = Counter(house.get(f"/sends/{send}")["counts"])
        taken = one.taken() + other.taken()
        assert max(taken.values()) == 1
        assert counts["in_doubt"] <= 2 * 100, "at most a window of each worker"
        assert len(set(numbers) - set(taken)) <= counts["in_doubt"]
        assert other.taken().keys() & set(numbers), "the other carrier went on"
        assert house.scalar(DOUBTS_ELSEWHERE) == 0
        assert not list(audit(house.engine, full=True))
