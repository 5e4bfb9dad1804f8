"""Postgres dies in the middle, and comes back."""

import contextlib
import http.client
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bulksms.local.postgres import Postgres
from shared.audit.check import audit
from shared.db.connection import STARTED, make_engine
from tests.harness.house import House, house, wait_until

LEASE_SECONDS = 5
MESSAGES_EACH = 15_000
"""In each of the two sends. The database crashes while the first is sent, and while the second is."""
WINDOWS = 2 * 400
"""The carrier's window of two workers: its books are in the same database, so it may give no response either."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, durable=True, SIMULATOR_ROUND_TRIP="0.01", LEASE_SECONDS=str(LEASE_SECONDS)) as made:
        made.new_account()
        yield made


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_sent_twice(service: House) -> None:
    sends = []
    for first in (254700000000, 254710000000):
        phones = [str(first + number) for number in range(MESSAGES_EACH)]
        sends.append(service.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"])
    for send, seconds in zip(sends, (LEASE_SECONDS + 1, 1), strict=True):
        wait_until(lambda send=send: counts_of(service, send)["queued"] < MESSAGES_EACH, 60, "progress")
        service.postgres.kill()
        status = 0
        with contextlib.suppress(OSError, http.client.HTTPException):
            body = {"sender_id": "ACME", "phone": "254799999999", "message": "Hi"}
            status = service.try_request("POST", "/sms/send", body)[0]
        assert status in (0, 503, 504), "nothing is accepted that cannot be stored"
        time.sleep(seconds)
        service.postgres.start(port=service.postgres.port)
        service.engine.dispose()
        wait_until(lambda: ready(service), 60, "the API")
    service.wait_for_end(120)
    assert sum(settled(counts_of(service, send)) for send in sends) == 2 * MESSAGES_EACH
    in_doubt = sum(counts_of(service, send)["in_doubt"] for send in sends)
    assert in_doubt <= 2 * WINDOWS, "the workers lived: they kept the answers, and returned what had not left"
    assert service.most_submits() <= 1
    assert audit(service.engine, full=True) == []


def test_each_start_is_recognized_whatever_the_clock_says(postgres_server: Postgres) -> None:
    """Also if the server was started while the clock was an hour ahead: both times count, not the later one."""

    def start_of(postmaster: str, reset: str | None) -> str:
        started = STARTED.replace("pg_postmaster_start_time()", f"timestamptz '{postmaster}'")
        value = "NULL::timestamptz" if reset is None else f"timestamptz '{reset}'"
        return started.replace("pg_stat_get_bgwriter_stat_reset_time()", value)

    boot, ahead = "2026-11-23 12:00+00", "2026-11-23 13:00+00"
    crashes = ["2026-11-23 12:10+00", "2026-11-23 12:20+00"]
    starts = [start_of(at, reset) for at in (boot, ahead) for reset in (None, *crashes)]
    engine = make_engine(postgres_server.url)
    with engine.connect() as connection:
        found = [connection.execute(text(f"SELECT {start}")).scalar_one() for start in starts]
        assert connection.execute(text(f"SELECT {STARTED} = {STARTED}")).scalar_one()
    engine.dispose()
    assert len(set(found)) == len(starts)


def counts_of(service: House, send: str) -> dict[str, int]:
    """A send's counts."""
    status, response = service.try_request("GET", f"/sends/{send}")
    assert status == 200, response
    return dict(response["counts"])


def settled(counts: dict[str, int]) -> int:
    """How many messages are delivered or in doubt."""
    return counts["delivered"] + counts["in_doubt"]


def ready(service: House) -> bool:
    """Whether the API answers from the database."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return service.try_request("GET", "/balance")[0] == 200
    return False
