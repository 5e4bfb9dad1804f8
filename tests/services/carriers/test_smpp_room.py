"""How many messages the SMPP driver may have under way, and how fast and until when they may leave."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import read_message
from tests.services.carriers.driven import (
    ACCEPTED,
    ENDLESS,
    IN_DOUBT,
    PATIENCE,
    THROTTLED,
    driven,
    phones,
    response_counts,
)
from tests.unit.carriers.smpp.making import Doorkeeper, Quota, message_group
from worker.carriers.base import UnlimitedPace


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


def test_only_responses_to_submitted_messages_are_waited_for() -> None:
    """As when a worker is asked to stop: the pace lets nothing more leave, long before the response timeout is over."""
    with driven(window=4, response_timeout=ENDLESS) as all_, ThreadPoolExecutor(1) as pool:
        all_.carrier.pace = Quota(left=2)
        outcomes = pool.submit(all_.submit, message_group("x", phones(5))).result(PATIENCE)
        assert response_counts(outcomes) == {ACCEPTED: 2, THROTTLED: 3}
        assert all_.smsc.records.counts.submits == 2
        all_.carrier.pace = UnlimitedPace()
        assert response_counts(all_.submit(message_group("x", phones(40)))) == {ACCEPTED: 40}, (
            "the room of the others is free again"
        )
