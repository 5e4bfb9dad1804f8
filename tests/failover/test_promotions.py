"""Twenty promotions of each kind under load: `make failover`. tests/services/guard has one of each.

A synchronous standby lacks nothing: sending resumes by itself, and no accepted send is lost. An asynchronous one may
lack commits: then nothing more is sent. In no case does a phone get a message twice.
"""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from sqlalchemy import text

from shared.audit.check import audit
from shared.guard import INCARNATION
from tests.faults.traffic import Traffic
from tests.harness.house import wait_until
from tests.harness.standby import Pair

pytestmark = pytest.mark.failover
PROMOTIONS = 20
CLIENTS = 2
LIST = 8_000
WHEN = (0.0, 1.0)
"""Seconds after the first messages at which the primary is killed."""
LAG = (0.0, 0.6)
"""Seconds for which an asynchronous standby has got nothing when the primary is killed."""
FIRST = 255_000_000_000
SENDING_AGAIN_SECONDS = 15
"""What is promised from a synchronous promotion until the carrier is given something again."""
LACKED: list[bool] = []
"""Of each asynchronous promotion that was run: whether the promoted database lacked an accepted send or a submit."""

EACH = pytest.mark.parametrize("number", range(PROMOTIONS))


class Outcome(NamedTuple):
    """What came of a promotion."""

    lost: int
    """Accepted sends of which the promoted database knows nothing."""
    unrecorded: int
    """Messages that the carrier was given, and whose submit the promoted database has no record of. Even a synchronous
    standby may lack some: what was being committed when the primary was killed. They are in doubt."""
    twice: int
    """Phones that were given to the carrier before and after."""
    held: bool
    seconds: float | None
    """From the promotion until the carrier was given something again; None if sending is held."""


@pytest.fixture
def pair(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Pair]:
    made = Pair(tmp_path, synchronous=request.param, SIMULATOR_RATE="3000")
    try:
        made.start_api()
        made.start_workers(2)
        made.new_account()
        yield made
    finally:
        made.stop()


def promote(pair: Pair, number: int, lag: bool) -> tuple[Outcome, list[Traffic], dict[str, Any]]:
    """Promote the standby while lists and single sends are under way. The random numbers are those of `number`."""
    chance = random.Random(number)
    clients = [Traffic(pair, 254_700_000_000 + 1_000_000 * each, f"client-{each}") for each in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        phones = [str(FIRST + each) for each in range(LIST)]
        accepted: dict[str, Any] = pair.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")
        wait_until(lambda: pair.scalar("SELECT count(*) FROM message") > 500, 60, "the first messages")
        time.sleep(chance.uniform(*WHEN))
        if lag:
            pair.replication.blackhole = True
            time.sleep(chance.uniform(*LAG))
        pair.fail_over()
        began = time.monotonic()
        had = set(pair.at_carrier())

        def decided() -> bool:
            """Whether sending is held, or goes on. (A window that was under way at the promotion is no new one.)"""
            if pair.scalar("SELECT held_since FROM installation"):
                return True
            confirmed = pair.scalar(f"SELECT checked = {INCARNATION} FROM installation")
            return bool(confirmed and set(pair.at_carrier()) - had)

        wait_until(decided, 60, "the guard, or what is sent after the promotion")
        held = pair.scalar("SELECT held_since FROM installation") is not None
        seconds = None if held else time.monotonic() - began
        time.sleep(2)  # what was held too late would be sent by now
    finally:
        for client in clients:
            client.stop()
    sends = [UUID(each.accepted["send_id"]) for client in clients for each in client.wanted if each.accepted]
    known = text("SELECT count(*) FROM send WHERE id = ANY(:sends)")
    lost = len(sends) - pair.scalar(known, sends=sends)
    now = set(pair.at_carrier())
    before = pair.given_by_primary()
    return Outcome(lost, len(before - had), len((now - had) & before), held, seconds), clients, accepted


@EACH
@pytest.mark.parametrize("pair", [True], indirect=True, ids=["synchronous"])
def test_a_synchronous_standby_takes_over_and_has_lost_nothing(pair: Pair, number: int) -> None:
    outcome, clients, accepted = promote(pair, number, lag=False)
    assert (outcome.lost, outcome.twice, outcome.held) == (0, 0, False)
    assert outcome.seconds is not None and outcome.seconds < SENDING_AGAIN_SECONDS
    check_the_end(pair, outcome, clients, accepted)


def check_the_end(pair: Pair, outcome: Outcome, clients: list[Traffic], accepted: dict[str, Any]) -> None:
    """What went on by itself ends with every message sent once, or in doubt if the database has no record of it."""
    for client in clients:
        client.settle()
        client.check_answers()
    wait_until(lambda: not pair.scalar("SELECT count(*) FROM send WHERE completed_at IS NULL"), 90, "the end")
    counts = pair.get(f"/sends/{accepted['send_id']}")["counts"]
    assert counts["sent"] + counts["delivered"] + counts["in_doubt"] == LIST
    assert pair.scalar("SELECT sum(in_doubt) FROM send") >= outcome.unrecorded
    assert pair.most_submits() == 1
    assert audit(pair.engine, full=True) == []


@EACH
@pytest.mark.parametrize("pair", [False], indirect=True, ids=["asynchronous"])
def test_an_asynchronous_standby_that_lost_something_is_held(pair: Pair, number: int) -> None:
    outcome, clients, accepted = promote(pair, number, lag=True)
    LACKED.append(bool(outcome.lost or outcome.unrecorded))
    assert outcome.twice == 0
    if not outcome.held:
        assert outcome.lost == 0
        check_the_end(pair, outcome, clients, accepted)


def test_at_least_one_promotion_lost_something() -> None:
    """Otherwise the run has shown nothing about the guard. It comes after the promotions."""
    assert any(LACKED)
