"""A job that fails again and again is set aside, shown to its owner and the operator, and costs the others nothing."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import AdminShutdown
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

import shared.contacts.groups
import shared.job_failures
import worker.jobs.erasure
import worker.jobs.expand
import worker.jobs.import_contacts
import worker.jobs.retention
import worker.jobs.usage
import worker.recovery.close_ended_sends
import worker.sending.canary
import worker.sending.claim
import worker.sweeper
import worker.tasks
from shared.contacts.imports import retry_import
from shared.db.connection import transaction
from shared.job_failures import (
    FIRST_WAIT,
    MAX_FAILURES,
    Job,
    attempt,
    batch_then_singly,
    clear_failures,
    failed,
)
from shared.sends.close_unsent import close_unsent
from shared.sends.holding import release
from tests.harness.database import wait_until_ended
from tests.harness.deliveries import deliver, settled_events
from tests.harness.failing_jobs import end_backoff
from tests.harness.service import Service
from tests.integration.accept.test_group import make_due, phones, scheduled
from tests.integration.jobs.test_imports import send_file
from worker.jobs.erasure import erase_one
from worker.jobs.expand import expand
from worker.jobs.import_contacts import import_chunk
from worker.outages import Outage

PHONE = "254711000001"


class Poison(Exception):
    """What a fault of ours raises."""


def poisoned(function: Callable[..., Any], is_poison: Callable[..., bool]) -> Callable[..., Any]:
    """The function, which raises for what is poison."""

    def call(*arguments: Any, **more: Any) -> Any:
        if is_poison(*arguments):
            raise Poison
        return function(*arguments, **more)

    return call


def failures(service: Service, kind: str) -> list[tuple[int, bool]]:
    """How often each job of the kind failed, and whether it is set aside."""
    query = text("SELECT failures, set_aside_at IS NOT NULL FROM job_failure WHERE kind = :kind ORDER BY subject")
    return [tuple(row) for row in service.execute(query, kind=kind)]


@pytest.fixture(autouse=True)
def no_failures(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are none yet, and none is tried again before time passes, however slow the machine is."""
    monkeypatch.setattr(shared.job_failures, "FIRST_WAIT", 3600.0)
    service.execute("DELETE FROM job_failure")


def two_imports(service: Service, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The first of which is poison."""
    bad, good = service.new_group([]), service.new_group([])
    made = [send_file(service, group, f"{PHONE}\n").json["import_id"] for group in (bad, good)]
    put = poisoned(shared.contacts.groups.put_contacts, lambda connection, group, contacts: str(group) == bad)
    monkeypatch.setattr(worker.jobs.import_contacts, "put_contacts", put)
    return made[0], made[1]


def test_what_have_failed_is_not_tried_together_with_what_has_not(service: Service) -> None:
    waiting: dict[str, int | None] = {"failed": 1, "one": None, "bad": None, "two": None}
    done: list[list[str]] = []

    def work(job: Job, limit: int, have_failed: bool) -> int:
        page = [name for name, failures in waiting.items() if (failures is not None) == have_failed][:limit]
        done.append(page)
        for name in page:
            job.begin(name, service.account_id, waiting[name])
            if name == "bad":
                if limit == 1:
                    del waiting[name]  # it backs off
                raise Poison
        for name in page:
            del waiting[name]
        return len(page)

    failed(service.engine, Job("doubt", "failed", service.account_id), Poison())
    assert batch_then_singly(service.engine, "doubt", work, 10) == 3
    assert done == [["one", "bad", "two"], ["one"], ["bad"], ["two"], [], ["failed"], []]
    assert failures(service, "doubt") == [(1, False)], "of the bad one"


def test_an_import_that_fails_is_set_aside_and_the_others_go_on(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = two_imports(service, monkeypatch)
    assert import_chunk(service.engine)
    while import_chunk(service.engine):
        pass
    assert service.get(f"/imports/{good}").json["status"] == "completed"
    assert service.get(f"/imports/{bad}").json["status"] == "queued"
    assert not import_chunk(service.engine), "it backs off"
    for _ in range(MAX_FAILURES - 1):
        end_backoff(service.engine)
        assert import_chunk(service.engine)
    failed = service.get(f"/imports/{bad}").json
    assert (failed["status"], "operator" in failed["error"]) == ("failed", True)
    end_backoff(service.engine)
    assert not import_chunk(service.engine)
    assert failures(service, "import") == [(MAX_FAILURES, True)]
    monkeypatch.undo()
    assert service.transact(clear_failures, "import", bad)
    assert service.transact(retry_import, UUID(bad))
    assert import_chunk(service.engine)
    assert service.get(f"/imports/{bad}").json["status"] == "completed"


def test_a_job_fails_eight_times_in_about_two_minutes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/explanation/reliability.md says."""
    monkeypatch.setattr(shared.job_failures, "FIRST_WAIT", FIRST_WAIT)
    job = Job("usage", "one")
    delay = text("SELECT extract(epoch FROM retry_at - failed_at)::float FROM job_failure WHERE subject = 'one'")
    delays = []
    for _ in range(7):
        assert not failed(service.engine, job, Poison())
        delays.append(round(service.scalar(delay)))
    assert delays == [1, 2, 4, 8, 16, 32, 64]
    assert failed(service.engine, job, Poison())
    assert service.scalar(delay) == float("inf")


def test_an_import_that_succeeds_in_the_end_has_never_failed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, _ = two_imports(service, monkeypatch)
    assert import_chunk(service.engine)
    monkeypatch.undo()
    end_backoff(service.engine)
    while import_chunk(service.engine):
        pass
    assert (service.get(f"/imports/{bad}").json["status"], failures(service, "import")) == ("completed", [])


def test_an_outage_does_not_count_as_a_failed_job(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    two_imports(service, monkeypatch)

    def gone(*_: object) -> None:
        raise OperationalError("", None, AdminShutdown())

    monkeypatch.setattr(worker.jobs.import_contacts, "put_contacts", gone)
    with service.worker.sweeper.outage.tolerated():
        import_chunk(service.engine)
    assert failures(service, "import") == []


def test_a_lock_that_is_held_too_long_counts_as_a_failed_job(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or whoever holds it would stop everybody's imports."""
    two_imports(service, monkeypatch)

    def locked(connection: Connection, *_: object) -> None:
        connection.execute(text("SET LOCAL lock_timeout = 1"))
        connection.execute(text("LOCK TABLE contact"))

    monkeypatch.setattr(worker.jobs.import_contacts, "put_contacts", locked)
    with transaction(service.engine) as connection:
        connection.execute(text("LOCK TABLE contact IN SHARE MODE"))
        assert import_chunk(service.engine)
    assert failures(service, "import") == [(1, False)]


def test_an_expansion_that_outlasts_its_session_have_failed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database ends a session that does nothing in a transaction. That is no outage: it would happen each time."""
    slow = scheduled(service, service.new_group(phones(3, 255750000000)))

    insert = worker.jobs.expand._insert_batches

    def compute(connection: Connection, send: Any, chunks: Any) -> Any:
        if str(send.id) != slow:
            return insert(connection, send, chunks)
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 20"))
        wait_until_ended(service.engine, connection)
        return connection.execute(text("SELECT 1"))

    monkeypatch.setattr(worker.jobs.expand, "_insert_batches", compute)
    make_due(service, slow)
    while not failures(service, "expansion"):
        expand(service.engine)
    assert failures(service, "expansion") == [(1, False)]


def test_a_send_that_cannot_be_expanded_is_held_and_the_others_go_on(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = (scheduled(service, service.new_group(phones(3, first))) for first in (255730000000, 255740000000))
    post = poisoned(worker.jobs.expand._insert_batches, lambda connection, send, batches: str(send.id) == bad)
    monkeypatch.setattr(worker.jobs.expand, "_insert_batches", post)
    make_due(service, bad)
    make_due(service, good)
    service.sweep()
    service.deliver_receipts()
    assert service.counts(good)["delivered"] == 3
    for _ in range(MAX_FAILURES - 1):
        end_backoff(service.engine)
        assert not expand(service.engine)
    held = service.get(f"/sends/{bad}").json
    assert (held["status"], held["held_by"]) == ("held", "crashes")
    assert failures(service, "expansion") == [(MAX_FAILURES, True)]
    monkeypatch.undo()
    service.transact(release, UUID(bad))
    service.sweep()
    service.deliver_receipts()
    assert service.counts(bad)["delivered"] == 3
    assert failures(service, "expansion") == []


@pytest.mark.parametrize("found", [False, True], ids=["a cycle", "others run"])
def test_messages_that_wait_are_sent_before_expansions_and_after_each_that_fails(
    service: Service, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    bad = [scheduled(service, service.new_group(phones(3, first))) for first in (255800000000, 255810000000)]
    steps: list[str] = []

    def fails(*_: object) -> None:
        steps.append("expansion")
        raise Poison

    def drain(_: float) -> int:
        steps.append("cycles")
        return 0

    def run_cycle_if_free() -> bool:
        steps.append("cycle")
        return found

    monkeypatch.setattr(worker.jobs.expand, "_insert_batches", fails)
    monkeypatch.setattr(service.worker.dispatcher, "drain", drain)
    monkeypatch.setattr(service.worker.dispatcher, "run_cycle_if_free", run_cycle_if_free)
    service.execute("UPDATE send SET state = 'expanding' WHERE id = ANY(:sends)", sends=bad)
    service.worker.sweeper.work()
    tried = steps.count("expansion")  # those of other tests, too
    assert tried >= len(bad)
    assert steps == ["cycle"] + ["expansion", "cycles"] * tried


def test_a_batch_that_makes_no_message_holds_its_send_and_the_others_go_on(service: Service) -> None:
    service.worker.dispatcher.stop.set()
    bad = service.bulk([{"phone": PHONE, "variables": {"name": "Ann"}}], "Hi {{name}}").json["send_id"]
    good = service.bulk(["254711000002"]).json["send_id"]
    service.worker.dispatcher.stop.clear()
    service.execute("UPDATE batch SET variables = '[]' WHERE send_id = :send", send=bad)
    service.sweep()
    service.deliver_receipts()
    assert service.counts(good)["delivered"] == 1
    held = service.get(f"/sends/{bad}").json
    assert (held["status"], held["held_by"]) == ("held", "crashes")


def test_a_batch_that_keeps_crashing_workers_is_sent_alone(service: Service) -> None:
    service.worker.dispatcher.stop.set()
    sends = [service.send(phone).json["send_id"] for phone in phones(3, 255750000000)]
    service.worker.dispatcher.stop.clear()
    service.execute("UPDATE batch SET crashes = 2 WHERE send_id = :send", send=sends[1])
    taken: list[list[str]] = []
    send = service.worker.dispatcher._send  # type: ignore[union-attr]

    def note(carrier: Any, batches: Any, *arguments: Any) -> None:
        taken.append([str(batch.send_id) for batch in batches])
        send(carrier, batches, *arguments)

    service.worker.dispatcher._send = note  # type: ignore[union-attr, method-assign, assignment]
    service.sweep()
    ours = [[send for send in cycle if send in sends] for cycle in taken]  # sends of other tests may wait for a retry
    assert [cycle for cycle in ours if cycle] == [[sends[0], sends[2]], [sends[1]]]


def test_an_erasure_that_fails_is_reported_and_the_others_go_on(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = (service.post("/erasures", phone=phone).json["erasure_id"] for phone in (PHONE, "254711000002"))
    poison = poisoned(
        worker.jobs.erasure._erase_elsewhere, lambda connection, found, subject, _: subject["phone"] == PHONE
    )
    monkeypatch.setattr(worker.jobs.erasure, "_erase_elsewhere", poison)
    service.execute("UPDATE erasure SET due_at = now() - interval '1 second'")
    service.execute("UPDATE erasure SET created_at = now() - interval '1 hour'")
    while erase_one(service.engine):
        pass
    assert service.get(f"/erasures/{good}").json["status"] == "completed"
    assert service.get(f"/erasures/{bad}").json["status"] == "pending"
    for _ in range(MAX_FAILURES - 1):
        end_backoff(service.engine)
        assert erase_one(service.engine)
    assert service.get(f"/erasures/{bad}").json["status"] == "failed"
    end_backoff(service.engine)
    assert erase_one(service.engine) is None


def test_a_send_that_cannot_be_closed_does_not_keep_others_open(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.worker.dispatcher.stop.set()
    bad, good = (service.send(phone).json["send_id"] for phone in (PHONE, "254711000002"))
    service.execute("UPDATE send SET expires_at = now() WHERE id = ANY(:ids)", ids=[bad, good])
    close = poisoned(close_unsent, lambda connection, send, outcome: str(send) == bad)
    monkeypatch.setattr(worker.recovery.close_ended_sends, "close_unsent", close)
    service.worker.sweeper.recover_and_wake()
    service.worker.sweeper.recover_and_wake()
    assert service.counts(good) == {"submitted": 1, "accepted": 1, "expired": 1}
    service.worker.sweeper.recover_and_wake()
    assert failures(service, "closing") == [(1, False)], "it backs off"
    monkeypatch.undo()
    end_backoff(service.engine)
    service.worker.sweeper.recover_and_wake()
    assert service.counts(bad) == {"submitted": 1, "accepted": 1, "expired": 1}
    service.worker.dispatcher.stop.clear()


def test_a_failing_step_of_the_sweep_does_not_stop_the_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise Poison

    for step in ("recover", "hold_newly_refused", "check_canaries_and_stop_if", "expire_doubts"):
        monkeypatch.setattr(worker.sweeper, step, fails)
    send = scheduled(service, service.new_group(phones(1, 255770000000)))
    make_due(service, send)
    service.sweep()
    service.deliver_receipts()
    assert service.counts(send)["delivered"] == 1


def test_a_sweep_that_takes_long_delays_no_cycle(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    worked, go_on = threading.Event(), threading.Event()

    class Sending:
        """What runs cycles."""

        stop, outage = threading.Event(), Outage()

        def run_cycle_if_free(self) -> bool:
            worked.set()
            return False

    monkeypatch.setattr(worker.sweeper, "SWEEP_SECONDS", 0.01)
    service.worker.dispatcher.stop.set()
    service.send("255790000000")
    sweeper = worker.sweeper.Sweeper(service.engine, Sending(), service.worker.settings)  # type: ignore[arg-type]
    monkeypatch.setattr(sweeper, "recover_and_wake", lambda: go_on.wait(60))
    monkeypatch.setattr(sweeper, "_take_lease", lambda *_: True)
    try:
        sweeper.start()
        assert worked.wait(60)
    finally:
        go_on.set()
        sweeper.stop()
        service.worker.dispatcher.stop.clear()


def test_jobs_that_fail_together_are_done_one_by_one(service: Service) -> None:
    waiting, done = ["a", "poison", "b"], list[str]()

    def work(job: Job, most: int, have_failed: bool) -> int:
        if have_failed:
            return 0
        resting = service.scalars("SELECT subject FROM job_failure WHERE retry_at > now() AND kind = 'doubt'")
        taken = [name for name in waiting if name not in [*done, *resting]][:most]
        for name in taken:
            job.begin(name, None, None)
            if name == "poison":
                raise Poison
        done.extend(taken)
        return len(taken)

    assert batch_then_singly(service.engine, "doubt", work, 10) == 2
    assert (done, failures(service, "doubt")) == (["a", "b"], [(1, False)])


def test_an_account_whose_retention_fails_does_not_stop_the_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def forget(engine: Any, account: Any, *_: Any) -> int:
        seen.append(account.id)
        raise Poison

    monkeypatch.setattr(worker.jobs.retention, "_forget_account", forget)
    other = service.new_account("other")
    worker.jobs.retention.forget(service.engine, 30)
    assert {service.account_id, other} <= {*seen}
    seen.clear()
    worker.jobs.retention.forget(service.engine, 30)
    assert seen == [], "they back off"


def test_a_webhook_whose_events_cannot_be_prepared_is_disabled(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = service.post("/webhooks", url="https://example.com/hook").json["webhook_id"]
    service.send()

    def fails(*_: object) -> None:
        raise Poison

    monkeypatch.setattr("worker.webhooks.store.read_work", fails)

    for _ in range(MAX_FAILURES):
        service.execute("UPDATE webhook SET rest_until = NULL, lease_until = NULL")
        deliver(service)
    assert failures(service, "webhook") == [(MAX_FAILURES, True)]
    webhook = service.get(f"/webhooks/{made}").json
    assert (webhook["status"], "operator" in webhook["disabled_reason"]) == ("disabled", True)
    assert [event["type"] for event in settled_events(service, "?types=webhook.disabled")] == ["webhook.disabled"]


def test_an_error_is_kept_without_its_data(service: Service) -> None:
    with attempt(service.engine, "import") as job:
        job.begin("x", None, None)
        service.execute("SELECT CAST(CAST(:phone AS text) AS uuid)", phone=PHONE)
    kept = service.scalar("SELECT error FROM job_failure WHERE subject = 'x'")
    assert "InvalidTextRepresentation" in kept and PHONE not in kept
