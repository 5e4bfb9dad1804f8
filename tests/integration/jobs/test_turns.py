"""Accounts take turns with imports and erasures, and each has a bounded number of them open."""

from uuid import UUID

import pytest

import shared.contacts.imports
import shared.contacts.text_stream
import shared.privacy.erasures
import worker.jobs.import_contacts
from api.http import uploaded_file
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.integration.jobs.test_imports import left_behind, send_file
from worker.jobs.erasure import erase_one
from worker.jobs.import_contacts import import_chunk

PHONE = "254711000001"


engine = own_database


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
    service.execute("UPDATE erasure SET due_at = now(), created_at = created_at - interval '1 minute'")


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
    service.execute("UPDATE job_failure SET retry_at = now() - CAST(:due AS interval)", due=due_for)
    assert import_chunk(service.engine)
    assert sandbox.get(f"/imports/{made}").json["status"] == first


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
