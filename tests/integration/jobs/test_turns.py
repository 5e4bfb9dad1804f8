"""Accounts take turns with imports and erasures, and each has a bounded number of them open."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import BigInteger, Connection, Engine, literal, select, text
from sqlalchemy.sql.visitors import cloned_traverse

import shared.contacts.imports
import shared.contacts.text_stream
import shared.privacy.erasures
import worker.jobs.import_contacts
import worker.jobs.privacy
from api.http import uploaded_file
from bulksms.local.postgres import Postgres
from shared.job_backoff import (
    ACCOUNT_YIELDS_FOR,
    AHEAD,
    BACKOFF_RANK,
    IS_PAUSED,
    PAUSE,
    YIELDS_FOR,
    backoff_rank,
    is_ready,
)
from tests.harness.database import disposable_database
from tests.harness.failing_jobs import LONG, end_backoff, end_pauses, prolong_pauses
from tests.harness.service import Service
from tests.integration.jobs.test_imports import left_behind, send_file
from worker.jobs.erasure import erase_one
from worker.jobs.import_contacts import import_chunk
from worker.jobs.privacy import PrivacyJobs
from worker.jobs.turns import take_turn

PHONE = "254711000001"


@pytest.fixture(name="engine")
def _engine(postgres_server: Postgres) -> Iterator[Engine]:
    """Each test has a database of its own, in which no job of another test waits."""
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.fixture(autouse=True)
def asleep(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker wakes for an import."""
    monkeypatch.setattr(service.worker.importer, "work", lambda: 0)
    service.celery.tasks["worker.import_contacts"].run = lambda import_id: None


def import_file(service: Service, phones: int = 1) -> str:
    """Upload a file. Returns the import's id."""
    content = "\n".join(str(254700000000 + number) for number in range(phones))
    response = send_file(service, service.new_group([]), content)
    assert response.status_code == 200, response.json
    return str(response.json["import_id"])


def ask_to_erase(service: Service, count: int) -> None:
    """Erasures that are due."""
    for number in range(count):
        assert service.post("/erasures", phone=str(254711000000 + number)).status_code == 200
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'"))


def yield_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let accounts whose imports have failed yield for LONG."""

    def lengthen(parameter: Any) -> None:
        if parameter.value == ACCOUNT_YIELDS_FOR:
            parameter.value = LONG

    longer = cloned_traverse(worker.jobs.import_contacts.NEXT, {}, {"bindparam": lengthen})
    monkeypatch.setattr(worker.jobs.import_contacts, "NEXT", longer)


def fail(*_: object) -> None:
    """Fail, as a fault of ours would."""
    raise RuntimeError("poison")


def test_an_account_with_many_files_delays_others_by_one_chunk(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared.contacts.text_stream, "CHUNK_CHARACTERS", 130)
    monkeypatch.setattr(uploaded_file, "BLOCK", 130)
    many = [import_file(service) for _ in range(12)]
    sandbox = service.in_sandbox()
    long = import_file(sandbox, 40)
    chunks = 0
    while sandbox.get(f"/imports/{long}").json["status"] != "completed":
        assert import_chunk(service.engine)
        chunks += 1
    done = [service.get(f"/imports/{one}").json["status"] for one in many].count("completed")
    assert done == chunks // 2 < len(many)


def test_an_import_that_fails_has_had_its_turn(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        import_file(service)
    sandbox = service.in_sandbox()
    made = import_file(sandbox)
    with monkeypatch.context() as broken:
        broken.setattr(worker.jobs.import_contacts, "put_contacts", fail)
        assert import_chunk(service.engine)
    assert import_chunk(service.engine)
    assert sandbox.get(f"/imports/{made}").json["status"] == "completed"


def test_accounts_that_had_a_turn_before_the_clock_was_set_back_take_turns(service: Service) -> None:
    """As ever: they go first once, and not last until the clock has caught up."""
    sandbox = service.in_sandbox()
    made = [import_file(service), import_file(sandbox), import_file(service), import_file(sandbox)]
    ours = [made[0], made[2]]
    with service.engine.begin() as connection:
        values = {"account": service.account_id, "ahead": LONG}
        connection.execute(text("INSERT INTO job_turn VALUES ('import', :account, now() + :ahead)"), values)
    turns = [str(take_turn(service.engine, "import", worker.jobs.import_contacts.NEXT)) in ours for _ in range(6)]
    assert turns[0] != turns[1]
    assert turns == turns[:2] * 3


@pytest.mark.parametrize(("ahead", "erased"), [("50 minutes", False), ("2 hours", True)])
def test_an_erasure_does_not_wait_for_a_clock_that_was_set_back(service: Service, ahead: str, erased: bool) -> None:
    ask_to_erase(service, 1)
    with service.engine.begin() as connection:
        connection.execute(text(f"UPDATE erasure SET due_at = now() + interval '{ahead}'"))
    assert (erase_one(service.engine) is not None) is erased


A_MICROSECOND = timedelta(microseconds=1)
FAILED = text(
    """
    INSERT INTO job_failure (kind, subject, account_id, failures, error, failed_at, retry_at)
    VALUES ('import', :subject, :account, 1, 'Poison', now() - CAST(:ago AS interval), now() - CAST(:due AS interval))
    """
)


WAITS = (
    ("failed", YIELDS_FOR - A_MICROSECOND, LONG, 2, False),
    ("failed", YIELDS_FOR, LONG, 0, False),
    ("another", LONG, PAUSE - A_MICROSECOND, 1, True),
    ("another", LONG, PAUSE, 1, False),
    ("another", LONG, ACCOUNT_YIELDS_FOR - A_MICROSECOND, 1, False),
    ("another", LONG, ACCOUNT_YIELDS_FOR, 0, False),
    ("another", LONG, -AHEAD, 1, True),
    ("another", LONG, -AHEAD - A_MICROSECOND, 0, False),
    ("failed", -LONG, -AHEAD - A_MICROSECOND, 0, False),
)
"""A job, for how long those that failed have been due, how long ago they failed, its rank, and whether it is paused.
Failures that lie ahead were stored before the clock was set back."""


def rank_and_pause(connection: Connection, subject: str, account: int, as_text: bool) -> tuple[int, bool]:
    """The rank of a job of an account, and whether it is paused."""
    if as_text:
        names = {"kind": "import", "subject": ":subject", "account": ":account"}
        written = text(f"SELECT {BACKOFF_RANK.format(**names)}, {IS_PAUSED.format(**names)}")
        rank, paused = connection.execute(written, {"subject": subject, "account": account}).one()
        return rank, paused
    job, of = literal(subject), literal(account, BigInteger)
    rank, ready = connection.execute(select(backoff_rank("import", job, of), is_ready("import", job, of))).one()
    return rank, not ready


@pytest.mark.parametrize("as_text", [False, True], ids=["expressions", "text"])
def test_for_how_long_jobs_wait_for_others(service: Service, as_text: bool) -> None:
    """To the microsecond: in one transaction, for which it is always the same time."""
    account = service.account_id
    for subject, due_for, failed_ago, rank, paused in WAITS:
        with service.engine.connect() as connection:
            for name in ("failed", "failed too"):
                values = {"subject": name, "account": account, "ago": failed_ago, "due": due_for}
                connection.execute(FAILED, values)
            assert rank_and_pause(connection, subject, account, as_text) == (rank, paused)
            connection.rollback()


@pytest.mark.parametrize(("due_for", "first"), [("1 second", "completed"), ("2 minutes", "queued")])
def test_an_import_that_failed_is_tried_after_the_others(
    service: Service, monkeypatch: pytest.MonkeyPatch, due_for: str, first: str
) -> None:
    """Whoever had the last turn; but one that has been due for a minute takes its turn."""
    monkeypatch.setattr(uploaded_file, "BLOCK", 130)
    import_file(service)
    with monkeypatch.context() as broken:
        broken.setattr(worker.jobs.import_contacts, "put_contacts", fail)
        assert import_chunk(service.engine)
    sandbox = service.in_sandbox()
    import_file(sandbox)
    assert import_chunk(service.engine)
    made = import_file(sandbox)
    end_pauses(service.engine, ACCOUNT_YIELDS_FOR)
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE job_failure SET retry_at = now() - CAST(:due AS interval)"), {"due": due_for})
    assert import_chunk(service.engine)
    assert sandbox.get(f"/imports/{made}").json["status"] == first


def test_after_imports_have_failed_the_accounts_others_are_tried_after_those_of_other_accounts(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or at each upload of another account the next import that fails would go first."""
    bad = [import_file(service), import_file(service)]
    good = import_file(service)
    with monkeypatch.context() as broken:
        broken.setattr(worker.jobs.import_contacts, "put_contacts", fail)
        assert [import_chunk(service.engine) for _ in range(2)] == [True, True]
    prolong_pauses(service.engine)
    assert not import_chunk(service.engine)
    yield_for_long(monkeypatch)
    sandbox = service.in_sandbox()
    for _ in range(2):
        made = import_file(sandbox)
        end_backoff(service.engine)
        assert import_chunk(service.engine)
        assert sandbox.get(f"/imports/{made}").json["status"] == "completed"
    assert import_chunk(service.engine)
    assert [service.get(f"/imports/{each}").json["status"] for each in (*bad, good)] == [
        "queued",
        "queued",
        "completed",
    ]


def test_a_second_worker_imports_for_the_next_account(service: Service) -> None:
    made = import_file(service)
    sandbox = service.in_sandbox()
    other = import_file(sandbox)
    with service.engine.begin() as connection:  # as a worker in the middle of a chunk does
        connection.execute(text("SELECT FROM contact_import WHERE id = :id FOR UPDATE"), {"id": made})
        assert import_chunk(service.engine)
        assert sandbox.get(f"/imports/{other}").json["status"] == "completed"
        assert not import_chunk(service.engine)
    assert import_chunk(service.engine)
    assert service.get(f"/imports/{made}").json["status"] == "completed"


def test_an_account_has_a_bounded_number_of_open_imports(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared.contacts.imports, "MAX_OPEN", 2)
    group, key = service.new_group([]), "again"
    first = send_file(service, group, PHONE, Idempotency_Key=key)
    second = import_file(service)
    refused = send_file(service, group, PHONE)
    assert (refused.status_code, refused.json["code"]) == (409, "import_limit")
    assert left_behind(service) == (2, 0)
    assert send_file(service, group, PHONE, Idempotency_Key=key).json == first.json
    import_file(service.in_sandbox())
    service.post(f"/imports/{second}/cancel")
    import_file(service)


def test_the_files_of_open_imports_have_a_bounded_size(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared.contacts.imports, "MAX_OPEN_BYTES", 3 * len(PHONE))
    group = service.new_group([])
    assert [send_file(service, group, PHONE).status_code for _ in range(4)] == [200, 200, 200, 409]
    assert left_behind(service) == (3, 0)
    while import_chunk(service.engine):
        pass
    assert send_file(service, group, PHONE).status_code == 200


def test_an_account_with_many_erasures_delays_others_by_one(service: Service) -> None:
    ask_to_erase(service, 5)
    sandbox = service.in_sandbox()
    ask_to_erase(sandbox, 2)
    for _ in range(4):
        assert isinstance(erase_one(service.engine), UUID)
    completed = [
        [each["status"] for each in side.get("/erasures").json["data"]].count("completed")
        for side in (service, sandbox)
    ]
    assert completed == [2, 2]


def test_an_account_has_a_bounded_number_of_open_erasures(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared.privacy.erasures, "MAX_OPEN", 2)
    ask_to_erase(service, 2)
    refused = service.post("/erasures", phone=PHONE)
    assert (refused.status_code, refused.json["code"]) == (409, "erasure_limit")
    assert len(service.get("/erasures").json["data"]) == 2
    ask_to_erase(service.in_sandbox(), 1)
    assert erase_one(service.engine)
    assert erase_one(service.engine)
    ask_to_erase(service, 1)


def test_retention_does_not_wait_for_many_erasures(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_to_erase(service, 3)
    pending: list[int] = []

    def note(engine: Engine, days: int) -> None:
        pending.append([each["status"] for each in service.get("/erasures").json["data"]].count("pending"))

    monkeypatch.setattr(worker.jobs.privacy, "forget", note)
    PrivacyJobs(service.engine, service.settings).run_once()
    assert pending == [2]
    assert {each["status"] for each in service.get("/erasures").json["data"]} == {"completed"}
