"""The product as it runs: API and workers as processes of their own, on a real Postgres and a real Redis."""

import os
import signal
import time

import psutil
import pytest
from sqlalchemy import text

from shared.audit.check import audit
from tests.harness.house import OPEN, STEADY, STOP_SECONDS, WORKER_SESSIONS, House, a_house, wait_until
from tests.harness.times import ahead

UNDER_WAY = "SELECT count(*) FROM batch WHERE state = 'sending'"


service = a_house(api_processes=2, WORKER_CONCURRENCY="2", **STEADY)


@pytest.fixture(scope="module")
def large(service: House) -> str:
    """A group of a hundred thousand."""
    return service.new_group(account_of(service), 100_000)


def account_of(service: House) -> int:
    return int(service.scalar("SELECT id FROM account WHERE name = 'acme'"))


def assert_exact(service: House) -> None:
    """Nothing is open, nothing was submitted twice, every credit is accounted for."""
    service.wait_for_end(120)
    assert service.most_submits() <= 1
    assert audit(service.engine, full=True) == []


def test_it_works(service: House) -> None:
    before = service.get("/balance")["balance"]
    response = service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")
    path = f"/messages/{response['message_id']}"
    wait_until(lambda: service.get(path)["status"] == "delivered", 60, "the receipt")
    assert service.get("/balance")["balance"] == before - 1
    assert_exact(service)


def test_a_group_of_a_hundred_thousand_is_answered_like_one_of_a_hundred(service: House, large: str) -> None:
    """Without a look at its contacts, which nobody can read meanwhile."""
    with service.engine.begin() as connection:
        connection.execute(text("LOCK TABLE contact IN ACCESS EXCLUSIVE MODE"))
        send = service.post("/sms/send-group", sender_id="ACME", group_id=large, message="Hi", send_at=ahead())
        assert send["counts"]["accepted"] == 100_000
    service.post(f"/sends/{send['send_id']}/cancel")


def freeze_with_a_batch(service: House) -> None:
    """SIGSTOP the only worker at a moment when it has messages under way."""
    [worker] = service.workers
    assert worker.pid is not None

    def has_a_batch() -> bool:
        """And no statement that would end with it."""
        os.kill(worker.pid, signal.SIGSTOP)
        with service.engine.connect() as connection:
            if "active" not in connection.execute(WORKER_SESSIONS).scalars().all() and service.scalar(UNDER_WAY):
                return True
        os.kill(worker.pid, signal.SIGCONT)
        return False

    wait_until(has_a_batch, 60, "a moment when the worker has a batch")


def test_a_worker_killed_in_the_middle(service: House) -> None:
    while service.workers:
        service.workers.pop().stop(timeout=STOP_SECONDS)
    others = service.env
    service.env = others | {"LEASE_SECONDS": "10", "SIMULATOR_RATE": "500"}  # so that it has work for 40 seconds
    service.start_workers(1)
    service.env = others
    phones = [str(254760000000 + number) for number in range(20_000)]
    send = service.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")
    path = f"/sends/{send['send_id']}"
    wait_until(lambda: service.get(path)["counts"]["queued"] < 18_000, 60, "the first messages")
    freeze_with_a_batch(service)
    service.kill_worker()
    service.start_workers(2)
    assert_exact(service)
    counts = service.get(path)["counts"]
    assert counts["delivered"] + counts["in_doubt"] == 20_000
    assert counts["in_doubt"] <= 400, "one window at most"


@pytest.mark.slow
def test_a_group_of_a_hundred_thousand_is_delivered_and_the_workers_memory_does_not_grow(
    service: House, large: str
) -> None:
    def peak() -> float:
        return float(sum(psutil.Process(worker.pid).memory_info().rss for worker in service.workers))

    group = service.new_group(account_of(service), 10_000)
    service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    service.wait_for_end(60)
    small = peak()
    send = service.post("/sms/send-group", sender_id="ACME", group_id=large, message="Hi")
    assert send["counts"]["accepted"] == 100_000
    seen = [peak()]
    while service.scalar(OPEN):
        seen.append(peak())
        time.sleep(0.2)
    assert max(*seen, peak()) < 1.2 * small
    assert_exact(service)
    assert service.get(f"/sends/{send['send_id']}")["counts"]["delivered"] == 100_000


def test_stopping_gracefully_leaves_nothing_in_doubt(service: House) -> None:
    phones = [str(254770000000 + number) for number in range(20_000)]
    send = service.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")
    worker = service.workers.pop()
    worker.stop()
    service.start_workers(1)
    assert_exact(service)
    assert service.get(f"/sends/{send['send_id']}")["counts"]["in_doubt"] == 0


def test_no_error_was_logged_but_for_what_was_broken_on_purpose(service: House) -> None:
    for log in sorted(service.folder.glob("*.log")):
        lines = [line for line in log.read_text().splitlines() if "Traceback" in line and "edis" not in line]
        assert lines == [], f"{os.fspath(log)}: {lines[:1]}"
