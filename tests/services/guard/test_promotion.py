"""A standby is promoted: nobody gets a message twice, whether it lacked commits or not."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bulksms.cli import main
from shared.guard import INCARNATION
from shared.guard.verdict import SETTLE_SECONDS
from tests.harness.house import OPEN, wait_until
from tests.harness.standby import Pair
from tests.harness.times import ahead

pytestmark = pytest.mark.slow
PHONES = 40_000
"""More than are sent before the promotion, however long a machine stands still."""
FIRST = 254_711_000_000


@pytest.fixture
def pair(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Pair]:
    made = Pair(tmp_path, synchronous=request.param)
    try:
        made.start_api()
        made.start_workers(2)
        made.new_account()
        yield made
    finally:
        made.stop()


def send_many(pair: Pair) -> str:
    phones = [str(FIRST + number) for number in range(PHONES)]
    send = str(pair.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"])
    wait_until(lambda: pair.scalar("SELECT count(*) FROM message") > 1_000, 60, "the first messages")
    return send


@pytest.mark.parametrize("pair", [False], indirect=True, ids=["asynchronous"])
def test_a_standby_that_lacks_half_a_second_is_held(pair: Pair) -> None:
    send = send_many(pair)
    pair.just_after_the_mark_rose()
    pair.replication.blackhole = True
    time.sleep(0.5)
    given = "SELECT count(*) FROM simulated_submit"
    known = pair.scalar(given)
    wait_until(lambda: pair.scalar(given) > known, 60, "messages that the standby lacks")
    pair.fail_over()
    had = set(pair.at_carrier())
    wait_until(lambda: pair.scalar("SELECT held_since FROM installation"), 60, "the guard")
    time.sleep(5)
    before = pair.given_by_primary()
    assert before - had, "the standby did not lack anything"
    assert not (set(pair.at_carrier()) - had) & before, "phones that would get it twice"

    env = {**pair.env, "DATABASE_URL": pair.standby.url, "GUARD_FILE": ""}

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, list(arguments), env=env)
        assert result.exit_code == 0, result.output
        return result.output

    assert "bulksms guard release" in run("guard", "show")
    run("guard", "release")
    wait_until(pair.is_answering, 60, "the API")
    assert pair.get(f"/sends/{send}")["status"] == "held"
    fresh = pair.post("/sms/send", sender_id="ACME", phone="255711000000", message="Hi")["send_id"]
    wait_until(lambda: pair.get(f"/sends/{fresh}")["counts"]["delivered"] == 1, 60, "what is sent after the release")
    assert not (set(pair.at_carrier()) - had) & before


@pytest.mark.parametrize("pair", [False], indirect=True, ids=["asynchronous"])
def test_workers_wait_for_the_api_to_say_that_a_send_is_missing(pair: Pair) -> None:
    """It is late: its processes stand still during the promotion."""
    ready = "SELECT count(*) FROM lease WHERE name LIKE 'api:%' AND incarnation IS NOT NULL"
    wait_until(lambda: pair.scalar(ready), 60, "the API's lease")
    pair.just_after_the_mark_rose()
    pair.replication.blackhole = True
    pair.post("/sms/send", sender_id="ACME", phone=str(FIRST), message="Hi", send_at=ahead())
    assert pair.api is not None
    os.killpg(pair.api.pid, signal.SIGSTOP)
    try:
        pair.fail_over()
        time.sleep(2 * SETTLE_SECONDS)
        assert not pair.scalar(f"SELECT checked = {INCARNATION} FROM installation")
    finally:
        os.killpg(pair.api.pid, signal.SIGCONT)
    wait_until(lambda: pair.scalar("SELECT held_since FROM installation"), 60, "the guard")


@pytest.mark.parametrize("pair", [True], indirect=True, ids=["synchronous"])
def test_a_standby_that_lost_nothing_goes_on(pair: Pair) -> None:
    send = send_many(pair)
    pair.fail_over()
    had = set(pair.at_carrier())
    wait_until(pair.is_answering, 60, "the API")
    wait_until(lambda: len(set(pair.at_carrier()) - had) >= 5_000, 60, "what the promoted standby sends")
    pair.post(f"/sends/{send}/cancel")
    wait_until(lambda: not pair.scalar(OPEN), 90, "the end")
    counts = pair.get(f"/sends/{send}")["counts"]
    assert not pair.scalar("SELECT held_since FROM installation")
    assert counts["sent"] + counts["delivered"] + counts["in_doubt"] + counts["canceled"] == PHONES
    assert not (set(pair.at_carrier()) - had) & pair.given_by_primary()
    assert pair.most_submits() == 1
