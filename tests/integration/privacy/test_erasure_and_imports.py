"""A phone that is erased does not come back by a file of contacts that was uploaded before."""

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any
from uuid import UUID

import pytest

import worker.jobs.import_contacts
from shared.accounts.refused import Refused
from shared.contacts.imports import begin_import, cancel_import, drop_old, keep_chunk, queue_import
from shared.db.connection import transaction
from shared.job_failures import MAX_FAILURES, Job
from shared.set_aside_jobs import list_failed_jobs, retry_failed_job
from tests.harness.database import wait_until_somebody_waits
from tests.harness.failing_jobs import end_backoff
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.integration.privacy.test_privacy import OTHER, PERSON, where, work
from worker.jobs import erasure
from worker.jobs.erasure import erase_one
from worker.jobs.erasure_imports import erase_imports
from worker.jobs.erasure_search import SearchResult, search
from worker.jobs.import_contacts import import_chunk

CHUNKS = [f"phone\n{OTHER}\n", f"{PERSON}\n", "254733123989\n"]
NATIONAL = "0" + PERSON.removeprefix("254")


def uploading(service: Service, chunks: list[str] | None = None) -> UUID:
    """Begin an import of these chunks into a new group."""
    import_id = begin_import(service.engine, service.account_id, UUID(service.new_group([])), "KE")
    for number, content in enumerate(chunks or CHUNKS):
        keep_chunk(service.engine, import_id, number, content)
    return import_id


def queue(service: Service, import_id: UUID, chunks: int = len(CHUNKS)) -> None:
    service.transact(queue_import, service.account_id, import_id, chunks, 100)


def queued(service: Service, chunks: list[str] | None = None) -> UUID:
    import_id = uploading(service, chunks)
    queue(service, import_id, len(chunks or CHUNKS))
    return import_id


def half_imported(service: Service) -> UUID:
    import_id = queued(service)
    assert import_chunk(service.engine)
    assert shown(service, import_id)["counts"]["rows"] == 1
    return import_id


def set_aside(service: Service, import_id: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the import fail until it is set aside."""

    def fails(*_: object) -> None:
        raise ValueError

    with monkeypatch.context() as patched:
        patched.setattr(worker.jobs.import_contacts, "put_contacts", fails)
        for _ in range(MAX_FAILURES):
            assert import_chunk(service.engine)
            end_backoff(service.engine)
    assert shown(service, import_id)["status"] == "failed"


def retry(service: Service, import_id: UUID) -> None:
    service.transact(retry_failed_job, "import", str(import_id))


def go_on(service: Service) -> None:
    while import_chunk(service.engine):
        pass


def shown(service: Service, import_id: UUID) -> dict[str, Any]:
    return dict(service.get(f"/imports/{import_id}").json)


def ask(service: Service) -> str:
    """Request the erasure, and let the worker do what it can. Returns its id."""
    erasure_id = str(service.post("/erasures", phone=PERSON).json["erasure_id"])
    work(service)
    return erasure_id


def status(service: Service, erasure_id: str) -> str:
    return str(service.get(f"/erasures/{erasure_id}").json["status"])


@pytest.mark.parametrize("begin", [queued, half_imported])
def test_an_import_that_goes_on_is_waited_for(alone: Service, begin: Callable[[Service], UUID]) -> None:
    import_id = begin(alone)
    erasure_id = ask(alone)
    assert status(alone, erasure_id) == "pending"
    go_on(alone)
    assert shown(alone, import_id)["status"] == "completed"
    work(alone)
    response = alone.get(f"/erasures/{erasure_id}").json
    assert (response["status"], response["counts"]["contacts"]) == ("completed", 1)
    assert where(alone.engine, PERSON) == set()
    assert where(alone.engine, OTHER) == {"contact"}


def test_an_upload_is_waited_for_until_it_is_imported(alone: Service) -> None:
    import_id = uploading(alone)
    erasure_id = ask(alone)
    assert status(alone, erasure_id) == "pending"
    queue(alone, import_id)
    go_on(alone)
    work(alone)
    assert status(alone, erasure_id) == "completed"
    assert where(alone.engine, PERSON) == set()


def test_rows_that_an_import_rejects_while_it_is_waited_for_are_erased(alone: Service) -> None:
    queued(alone, [f"{OTHER}\n", f"tel {PERSON}00000000\n"])
    erasure_id = ask(alone)
    go_on(alone)
    assert "import_error" in where(alone.engine, PERSON)
    work(alone)
    assert status(alone, erasure_id) == "completed"
    assert where(alone.engine, PERSON) == set()


def test_the_file_of_an_import_that_was_set_aside_is_deleted(alone: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way the phone is written in it; the operator cannot resume the import."""
    import_id = queued(alone, [f"{OTHER}\n", f"{NATIONAL}\n"])
    set_aside(alone, import_id, monkeypatch)
    assert where(alone.engine, NATIONAL) == {"import_chunk"}
    assert status(alone, ask(alone)) == "completed"
    assert where(alone.engine, PERSON, NATIONAL) == set()
    assert "Upload it again" in shown(alone, import_id)["error"]
    assert alone.transact(list_failed_jobs, 10) == []
    with pytest.raises(Refused):
        retry(alone, import_id)
    assert shown(alone, import_id)["status"] == "failed"


def test_an_import_that_is_set_aside_while_it_is_waited_for_holds_up_no_erasure(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = half_imported(alone)
    erasure_id = ask(alone)
    assert status(alone, erasure_id) == "pending"
    set_aside(alone, import_id, monkeypatch)
    work(alone)
    assert status(alone, erasure_id) == "completed"
    assert where(alone.engine, PERSON) == set()


ROW, REST = f'phone,note,opted out\n{OTHER},,yes\n{PERSON},"begins\n', 'and ends"\n'


def begun(service: Service) -> UUID:
    """An import of which a phone and the beginning of a row are kept for its next chunk."""
    import_id = queued(service, [ROW, REST])
    assert import_chunk(service.engine)
    service.execute("DELETE FROM import_error")
    assert where(service.engine, PERSON) == where(service.engine, OTHER) == {"contact_import"}
    return import_id


@pytest.mark.parametrize("failed", [False, True], ids=["canceled", "failed"])
def test_nothing_is_left_of_the_file_of_an_import_that_stopped(alone: Service, failed: bool) -> None:
    import_id = begun(alone)
    if failed:
        alone.execute("UPDATE contact_group SET deleted_at = now()")
        go_on(alone)
    else:
        assert alone.transact(cancel_import, import_id)
    assert shown(alone, import_id)["status"] == ("failed" if failed else "canceled")
    assert where(alone.engine, PERSON, OTHER) == set()


def test_what_was_kept_of_an_import_that_was_set_aside_is_erased(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_aside(alone, begun(alone), monkeypatch)
    assert status(alone, ask(alone)) == "completed"
    assert where(alone.engine, PERSON, OTHER) == set()


def test_what_was_kept_of_an_import_that_was_set_aside_is_deleted_with_its_file(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_aside(alone, begun(alone), monkeypatch)
    drop_old(alone.engine)
    assert where(alone.engine, PERSON, OTHER) == {"contact_import"}
    alone.execute("UPDATE contact_import SET finished_at = now() - interval '31 days'")
    drop_old(alone.engine)
    assert where(alone.engine, PERSON, OTHER) == set()


def test_an_import_that_is_resumed_after_the_search_is_waited_for(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = queued(alone)
    set_aside(alone, import_id, monkeypatch)

    def and_is_resumed(*arguments: Any) -> SearchResult | None:
        found = search(*arguments)
        retry(alone, import_id)
        return found

    erasure_id = str(alone.post("/erasures", phone=PERSON).json["erasure_id"])
    alone.execute("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'")
    with monkeypatch.context() as patched:
        patched.setattr(erasure, "search", and_is_resumed)
        assert erase_one(alone.engine) is not None
    assert status(alone, erasure_id) == "pending"
    go_on(alone)
    assert shown(alone, import_id)["status"] == "completed"
    work(alone)
    assert status(alone, erasure_id) == "completed"
    assert where(alone.engine, PERSON) == set()


def test_an_import_cannot_be_resumed_while_its_file_is_deleted(alone: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    import_id = queued(alone)
    set_aside(alone, import_id, monkeypatch)
    erasure_id = alone.post("/erasures", phone=PERSON).json["erasure_id"]
    alone.execute("UPDATE erasure SET due_at = now()")
    found = search(alone.engine, UUID(erasure_id), Job("erasure"))
    assert found is not None
    refused: list[Refused] = []
    retrying = Thread(target=partial(_note_refusal, refused, alone, import_id))
    with transaction(alone.engine) as connection:
        assert erase_imports(connection, found, alone.account_id)
        retrying.start()
        wait_until_somebody_waits(alone.engine)
    join_all(retrying)
    assert len(refused) == 1
    assert shown(alone, import_id)["status"] == "failed"


def _note_refusal(refused: list[Refused], service: Service, import_id: UUID) -> None:
    try:
        retry(service, import_id)
    except Refused as refusal:
        refused.append(refusal)
