"""A release replaces the one before while requests come in: none fails, and nobody gets a message twice."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from shared.audit.check import audit
from tests.faults.traffic import Traffic
from tests.harness.house import wait_until
from tests.harness.releases import Fleet, Release, releases

CLIENTS = 3
LIST = 3_000


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    (tmp_path / "house").mkdir()
    made = Fleet(tmp_path / "house", SIMULATOR_RATE="1500")
    try:
        yield made
    finally:
        made.stop()


@contextlib.contextmanager
def traffic(fleet: Fleet) -> Iterator[list[Traffic]]:
    """Clients that send all the time, until the end of the block."""
    clients = [Traffic(fleet, 254_700_000_000 + 1_000_000 * number, f"client-{number}") for number in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        yield clients
    finally:
        for client in clients:
            client.stop()


def phones_of(number: int) -> list[str]:
    return [str(255_000_000_000 + LIST * number + each) for each in range(LIST)]


def times_at_carrier(fleet: Fleet) -> list[int]:
    counts = text("SELECT count(*) FROM simulated_submit GROUP BY phone")
    with fleet.engine.connect() as connection:
        return list(connection.execute(counts).scalars())


def test_it_works(fleet: Fleet, tmp_path: Path) -> None:
    before, after = (
        Release(fleet, home, name) for home, name in zip(releases(tmp_path), ("before", "after"), strict=True)
    )
    lists = []
    try:
        before.migrate()
        before.start(workers=2)
        fleet.new_account()
        with traffic(fleet) as clients:
            lists.append(fleet.post("/sms/send-bulk", sender_id="ACME", phones=phones_of(0), message="Hi"))
            after.migrate()
            assert fleet.scalar("SELECT version_num FROM alembic_version") == after.revision
            assert before.api.ready(), "a load balancer would take the running release out"
            sent = len(times_at_carrier(fleet))
            wait_until(lambda: len(times_at_carrier(fleet)) > sent, 30, "what the running release sends afterwards")
            after.start(workers=2)
            lists.append(fleet.post("/sms/send-bulk", sender_id="ACME", phones=phones_of(1), message="Hi"))
            tried = min(len(client.wanted) for client in clients)
            wait_until(lambda: min(len(client.wanted) for client in clients) > tried + 20, 60, "requests to both")
            before.stop()
            tried = min(len(client.wanted) for client in clients)
            wait_until(
                lambda: min(len(client.wanted) for client in clients) > tried + 20, 60, "requests to the new one"
            )
        for client in clients:
            client.settle()
            failed = [each for wanted in client.wanted for each in wanted.tries if each.status not in (200, None)]
            assert failed == [], "only a connection may end, and then the request is repeated"
            client.check_answers()
        fleet.wait_for_end(90)
        accepted = sum(len(client.wanted) for client in clients) + len(lists) * LIST
        carried = times_at_carrier(fleet)
        assert (len(carried), max(carried)) == (accepted, 1)
        assert audit(fleet.engine, full=True) == []
    finally:
        before.stop()
        after.stop()


def test_the_release_before_can_take_over_again(fleet: Fleet, tmp_path: Path) -> None:
    before, after = (
        Release(fleet, home, name) for home, name in zip(releases(tmp_path), ("before", "after"), strict=True)
    )
    try:
        after.migrate()
        before.migrate()
        assert fleet.scalar("SELECT version_num FROM alembic_version") == after.revision >= before.revision
        before.start(workers=1)
        fleet.new_account()
        send = fleet.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")["send_id"]
        wait_until(lambda: fleet.get(f"/sends/{send}")["counts"]["delivered"] == 1, 30, "its message")
    finally:
        before.stop()
