"""Exports have each message once, whoever makes their pages, and are kept for a week."""

import csv
import io
import json
from typing import Any
from uuid import UUID

import pytest

from shared.job_failures import MAX_FAILURES
from shared.messages import exports
from shared.messages.exports import drop_old_exports
from shared.set_aside_jobs import retry_failed_job
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.integration.messages.test_messages import listed
from worker.jobs import export_messages
from worker.jobs.erasure import erase_one
from worker.jobs.export_messages import export_page

PHONES = [str(254711000200 + number) for number in range(30)]


engine = own_database


@pytest.fixture
def sent(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """With pages of 7 messages, an account that has sent 41 of them."""
    monkeypatch.setattr(export_messages, "PAGE", 7)
    service.bulk([{"phone": phone, "reference": f"={phone}"} for phone in PHONES])
    for phone in PHONES[:10]:
        service.send(phone, "Hi", category="marketing", reference="a, b")
    service.send("4915112345678")
    service.deliver_receipts()
    return service


def work(service: Service) -> None:
    while export_page(service.engine):
        pass


def begin(service: Service, **asked: Any) -> str:
    response = service.post("/exports", **asked)
    assert (response.status_code, response.json["status"]) == (200, "running")
    return str(response.json["export_id"])


def file_of(service: Service, export: str) -> str:
    shown = service.get(f"/exports/{export}").json
    assert shown["status"] == "completed"
    return str(service.get(shown["file_url"].removeprefix("/api/v1")).text)


def rows_of(service: Service, export: str) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(file_of(service, export))))
    assert service.get(f"/exports/{export}").json["rows"] == len(rows)
    return rows


def test_it_works(sent: Service) -> None:
    export = begin(sent)
    later = sent.send(PHONES[0]).json["message_id"]
    work(sent)
    rows = rows_of(sent, export)
    found = [each for each in listed(sent) if each["message_id"] != later]
    assert [each["message_id"] for each in rows] == [each["message_id"] for each in found]
    [row] = [each for each in rows if each["country"] == "DE"]
    expected = next(each for each in found if each["country"] == "DE")
    same = ("status", "send_id", "sender_id", "category", "carrier", "created_at", "finished_at")
    assert {name: row[name] for name in same} == {name: expected[name] for name in same}
    assert {each["reference"] for each in rows} == {f"'={phone}" for phone in PHONES} | {"a, b", ""}


def test_lines_of_json_and_filters(sent: Service) -> None:
    query = {"category": "marketing", "status": "delivered", "permanent": None, "since": "2020-01-01T00:00:00Z"}
    export = begin(sent, format="ndjson", **{name: value for name, value in query.items() if value})
    work(sent)
    lines = [json.loads(line) for line in file_of(sent, export).splitlines()]
    assert lines == listed(sent, "category=marketing&status=delivered")
    own = begin(sent, reference=f"={PHONES[3]}")
    work(sent)
    assert [each["phone"] for each in rows_of(sent, own)] == [PHONES[3]]
    nothing = begin(sent, group_id="019a8e51-3b7a-7f02-8c4d-5a9be7713c06", permanent=True)
    work(sent)
    assert rows_of(sent, nothing) == []


def test_a_crash_at_any_page_leaves_each_row_once(sent: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a page is kept, and after it has been: nobody knows then that it was."""
    export, keep = begin(sent), exports.keep_chunk
    for number in range(20):
        with monkeypatch.context() as patch:

            def die(*page: Any, after: bool = number % 2 == 1) -> None:
                if after:
                    sent.transact(keep, *page[1:])
                raise SystemExit

            patch.setattr(export_messages, "keep_chunk", die)
            if sent.get(f"/exports/{export}").json["status"] == "running":
                with pytest.raises(SystemExit):
                    export_page(sent.engine)
    assert len({each["message_id"] for each in rows_of(sent, export)}) == len(rows_of(sent, export)) == 41


def test_a_page_that_two_workers_make_is_kept_once(sent: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    export, keep = begin(sent), exports.keep_chunk

    def be_late(*page: Any) -> None:
        monkeypatch.setattr(export_messages, "keep_chunk", keep)
        assert export_page(sent.engine)
        keep(*page)

    while sent.get(f"/exports/{export}").json["status"] == "running":
        monkeypatch.setattr(export_messages, "keep_chunk", be_late)
        export_page(sent.engine)
    assert len({each["message_id"] for each in rows_of(sent, export)}) == len(rows_of(sent, export)) == 41


def test_an_account_has_a_bounded_number(sent: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MAX_KEPT", 2)
    key = {"Idempotency-Key": "one"}
    first, again = (sent.post("/exports", headers=key) for _ in range(2))
    assert first.json == again.json
    refused = sent.post("/exports")
    assert (refused.status_code, refused.json["code"]) == (409, "export_limit")
    response = sent.get(f"/exports/{first.json['export_id']}/file")
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")
    work(sent)
    for name in ("another", "a third"):  # they count for themselves
        assert sent.post("/exports", token=sent.new_token(sent.new_account(name))).status_code == 200
    begin(sent)
    work(sent)
    assert sent.post("/exports").json["code"] == "export_limit"


def test_one_can_be_stopped_and_deleted(sent: Service) -> None:
    kept, stopped = begin(sent), ""
    work(sent)
    stopped = begin(sent)
    export_page(sent.engine)
    assert [each["export_id"] for each in sent.get("/exports").json["data"]] == [stopped, kept]
    assert sent.delete(f"/exports/{stopped}").json == {"export_id": stopped, "deleted": True}
    assert sent.delete(f"/exports/{stopped}").json["code"] == "export_not_found"
    assert not export_page(sent.engine)
    assert len(rows_of(sent, kept)) == 41


def test_an_erasure_deletes_those_that_searched_for_the_phone(sent: Service) -> None:
    searched = begin(sent, phone=PHONES[0])
    work(sent)
    other = begin(sent, phone=PHONES[1])
    work(sent)
    sent.post("/erasures", phone=PHONES[0])
    sent.execute("UPDATE erasure SET due_at = now()")
    erase_one(sent.engine)
    assert [each["export_id"] for each in sent.get("/exports").json["data"]] == [other]
    assert sent.get(f"/exports/{searched}").json["code"] == "export_not_found"


def test_files_are_kept_for_a_week(sent: Service) -> None:
    old, new = begin(sent), ""
    work(sent)
    new = begin(sent)
    work(sent)
    sent.execute("UPDATE message_export SET created_at = now() - interval '7 days' WHERE id = :id", id=old)
    drop_old_exports(sent.engine)
    assert sent.get(f"/exports/{old}").json["code"] == "export_not_found"
    assert len(rows_of(sent, new)) == 41
    kept = set(sent.scalars("SELECT export_id FROM export_chunk"))
    assert kept == {UUID(new)}


def test_one_that_always_fails_is_set_aside_until_it_is_retried(sent: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    export = begin(sent)
    with monkeypatch.context() as patch:
        patch.setattr(export_messages, "find_messages", lambda *_: {}["x"])
        for _ in range(MAX_FAILURES):
            export_page(sent.engine)
            sent.execute("UPDATE job_failure SET retry_at = now() WHERE set_aside_at IS NULL")
    assert not export_page(sent.engine)
    assert [each["status"] for each in sent.get("/exports").json["data"]] == ["failed"]
    next_one = begin(sent)
    work(sent)
    assert len(rows_of(sent, next_one)) == 41
    sent.transact(retry_failed_job, "export", export)
    work(sent)
    assert len(rows_of(sent, export)) == 41


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"format": "xml"}, "/format"),
        ({"status": "gone"}, "/status"),
        ({"permanent": "true"}, "/permanent"),
        ({"since": "yesterday"}, "/since"),
        ({"limit": 5}, "/limit"),
    ],
)
def test_a_wrong_request_begins_nothing(service: Service, asked: dict[str, Any], pointer: str) -> None:
    response = service.post("/exports", **asked)
    assert (response.status_code, response.json["errors"][0]["pointer"]) == (400, pointer)
    assert not export_page(service.engine)
