"""A sender ID and a prefix with rates of their own: all workers together keep them, and nobody else waits."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from shared.audit.check import audit
from tests.carriers.ground import CARRIER, Seen, carrier, phones, service
from tests.harness.house import House, wait_until

pytestmark = pytest.mark.slow
LIMITS = """
[[limits]]
sender = "SLOW"
rate = 40

[[limits]]
prefix = "256"
rate = 25
"""
BY_SENDER, BY_PREFIX = 254700000000, 256700000000
FREE = 255700000000
SECONDS = 6
"""For how long the rates are watched."""
MOST_SECONDS = 180
"""For how long the messages of a limit would keep it busy: the others need less, on a busy machine too."""
AT_ONCE = 0.2
"""Seconds of a rate that may leave at once, at the beginning."""


def part(seen: Seen, prefix: str) -> Seen:
    """What came for phones with that prefix."""
    pairs = list(zip(list(seen.times), list(seen.phones), strict=False))
    return Seen([at for at, phone in pairs if phone.startswith(prefix)], [p for _, p in pairs if p.startswith(prefix)])


def least(seen: Seen, rate: float) -> float:
    """Seconds that a rate needs for these messages: from the request, as each may come here late but none early."""
    return len(seen.times) / rate - AT_ONCE


def came(seen: Seen, *expected: Sequence[str]) -> bool:
    return set(seen.phones) >= {phone for phones in expected for phone in phones}


def is_watched(seen: Seen) -> bool:
    return len(part(seen, "254").times) >= 40 * SECONDS and len(part(seen, "256").times) >= 25 * SECONDS


def cancel(house: House, *sends: tuple[str, str]) -> None:
    """Cancel sends, each with the token of its account."""
    for token, send in sends:
        house.token = token
        house.post(f"/sends/{send}/cancel")


def test_a_limit_holds_for_all_workers_and_others_do_not_wait(tmp_path: Path) -> None:
    file = CARRIER.format(name="main", port="{port}", rate=0) + LIMITS
    with carrier() as smsc, service(tmp_path, file.replace("{port}", str(smsc.port)), 2) as house:
        house.new_account("other", sender="SLOW")
        limited, by_prefix = phones(40 * MOST_SECONDS, BY_SENDER), phones(25 * MOST_SECONDS, BY_PREFIX)
        begun_by_sender = time.monotonic()
        send = house.post("/sms/send-bulk", sender_id="SLOW", phones=limited, message="Hi")["send_id"]
        of_sender = house.token, send
        wait_until(lambda: house.get(f"/sends/{send}")["limited_by"] == "sender_rate", 60, "what it waits for")
        house.new_account()
        mixed, free, begun = phones(1000, FREE), phones(1000, FREE + 10_000), time.monotonic()
        both = house.post("/sms/send-bulk", sender_id="ACME", phones=by_prefix + mixed, message="Hi")
        house.post("/sms/send-bulk", sender_id="ACME", phones=free, message="Hi")
        wait_until(lambda: came(smsc.seen, mixed, free), MOST_SECONDS, "the others")
        assert not came(smsc.seen, by_prefix), "of a batch in which both are, too"
        wait_until(lambda: is_watched(smsc.seen), 120, "those that are limited")
        cancel(house, (house.token, both["send_id"]), of_sender)
        house.wait_for_end(60)
        seen_of_sender, seen_of_prefix = part(smsc.seen, "254"), part(smsc.seen, "256")
        last = phones(10, BY_SENDER + len(limited)) + phones(5, BY_PREFIX + len(by_prefix))
        house.post("/sms/send-bulk", sender_id="SLOW", phones=last, message="Hi")
        wait_until(lambda: came(smsc.seen, last), 60, "all of a send")
        house.wait_for_end(60)
        assert not list(audit(house.engine, full=True))
    print(f"busiest seconds {seen_of_sender.busiest_second()} and {seen_of_prefix.busiest_second()}")
    assert seen_of_sender.times[-1] - begun_by_sender >= least(seen_of_sender, 40)
    assert seen_of_prefix.times[-1] - begun >= least(seen_of_prefix, 25)
    assert set(smsc.seen.taken().values()) == {1}
