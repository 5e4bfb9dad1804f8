"""Files of contacts by the API: taken at once, read by a worker."""

import io
import json
from typing import Any
from uuid import UUID

import pytest
from werkzeug.test import TestResponse

import shared.contacts.groups
import shared.contacts.text_stream
import worker.jobs.import_contacts
from api.http import uploaded_file
from api.resources.imports import upload
from shared.accounts.change_account import change_account
from shared.audit.check import audit
from shared.contacts.imports import (
    begin_import,
    cancel_import,
    drop_import,
    drop_old,
    keep_chunk,
    queue_import,
)
from tests.harness.event_loop_client import NoResponse
from tests.harness.failing_jobs import end_backoff
from tests.harness.service import PREFIX, Service
from tests.harness.what_we_read import table
from worker.jobs.import_contacts import import_chunk

A, B, C = "254711000001", "254711000002", "254711000003"


def send_file(
    service: Service, group: str, content: bytes | str, query: str = "", mimetype: str = "text/csv", **headers: str
) -> TestResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.client.post(
        f"{PREFIX}/groups/{group}/import{query}",
        data=content.encode() if isinstance(content, str) else content,
        content_type=mimetype,
        headers={"Authorization": f"Bearer {service.token}", **named},
    )


def upload_of(service: Service, group: str, content: bytes | str, query: str = "") -> dict[str, Any]:
    """The import as it is when it is over."""
    response = send_file(service, group, content, query)
    assert response.status_code == 200, response.json
    assert response.json["status"] == "queued"
    service.import_files()
    return dict(service.get(f"/imports/{response.json['import_id']}").json)


def contacts(service: Service, group: str) -> list[dict[str, Any]]:
    service.import_files()
    return list(service.get(f"/groups/{group}/contacts?limit=1000").json["data"])


def test_an_export_is_imported_as_it_was(service: Service) -> None:
    odd = ["=1+1", "-5", "+254711000009", "'=1", "Ann;=cmd|' /C calc'!A0", "a\n=1\n'-2", "=" + "x" * 254, "it's;-)"]
    entries = [
        {"phone": str(254711000000 + place), "fields": {"note": value}, "tags": ["-a", "vip", "=b", "'@c"]}
        for place, value in enumerate(odd)
    ]
    group, other = service.new_group([]), service.new_group([])
    service.post(f"/groups/{group}/contacts", contacts=entries)
    export = service.get(f"/groups/{group}/contacts", headers={"Accept": "text/csv"}).text
    assert "x,=" not in export and ";=" not in export and "\n=" not in export
    assert upload_of(service, other, export)["counts"]["added"] == len(odd)
    assert contacts(service, other) == contacts(service, group) == entries


def left_behind(service: Service) -> tuple[int, int]:
    """Pieces, and uploads without an end."""
    statement = "SELECT (SELECT count(*) FROM import_chunk), count(*) FROM contact_import WHERE state = 'receiving'"
    return tuple(service.row(statement))


def test_it_works(service: Service) -> None:
    group = service.new_group([A])
    lines = ["phone,name,tags", f"{A},Ann,vip;new", f"{B},Bob,", "0712,Cid,", f"{B},Bob,"]
    made = upload_of(service, group, "\r\n".join(lines))
    assert made["status"] == "completed"
    assert made["counts"] == {"rows": 4, "added": 1, "changed": 1, "unchanged": 1, "invalid": 1}
    assert made["bytes_done"] == made["bytes"] == len("\n".join(lines))
    assert made["finished_at"] is not None
    assert contacts(service, group) == [
        {"phone": A, "fields": {"name": "Ann"}, "tags": ["vip", "new"]},
        {"phone": B, "fields": {"name": "Bob"}, "tags": []},
    ]
    errors = service.get(f"/imports/{made['import_id']}/errors").json["data"]
    assert [(row["line"], row["value"], row["code"]) for row in errors] == [(4, "0712", "invalid_phone")]
    assert [one["import_id"] for one in service.get(f"/imports?group_id={group}").json["data"]] == [made["import_id"]]
    assert left_behind(service) == (0, 0)
    assert audit(service.engine, full=True) == []


def test_numbers_of_a_country(service: Service) -> None:
    group = service.new_group([])
    assert upload_of(service, group, "0711000001\n")["counts"]["invalid"] == 1
    made = upload_of(service, group, "0711000001\n", "?country=KE")
    assert (made["country"], made["counts"]["added"]) == ("KE", 1)
    service.transact(change_account, service.account_id, {"country": "KE"})
    assert upload_of(service, group, "0711000001\n0711 000002\n")["counts"] == {
        "rows": 2,
        "added": 1,
        "changed": 0,
        "unchanged": 1,
        "invalid": 0,
    }
    wrong = send_file(service, group, "x", "?country=ke")
    assert (wrong.status_code, wrong.json["errors"][0]["pointer"]) == (400, "/country")


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        pytest.param(b"", 400, "validation_failed", id="empty"),
        pytest.param(b"PK\x03\x04" + b"\0" * 1000, 415, "unsupported_media_type", id="xlsx"),
        pytest.param(b"x" * 600_000, 400, "validation_failed", id="no-lines"),
        pytest.param(b"254711000001\n" * 100_000, 413, "payload_too_large", id="too-large"),
    ],
)
def test_a_body_that_is_not_a_contacts_file_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch, content: bytes, status: int, code: str
) -> None:
    monkeypatch.setattr(upload, "MAX_UPLOAD_BYTES", 1_000_000)
    group = service.new_group([])
    response = send_file(service, group, content)
    assert (response.status_code, response.json["code"]) == (status, code)
    assert contacts(service, group) == []
    assert left_behind(service) == (0, 0)
    assert service.get(f"/imports?group_id={group}").json["data"] == []


def test_a_line_that_is_too_long_is_named_with_what_to_do(service: Service) -> None:
    response = send_file(service, service.new_group([]), b"phone\n254711000001\n" + b"254711000002;" * 50_000)
    (error,) = response.json["errors"]
    assert error["detail"].startswith("Line 3 has more than 262,144 characters. Write each phone")


@pytest.mark.parametrize("mimetype", ["application/json", "application/vnd.ms-excel", "", "text/html"])
def test_another_media_type_is_refused(service: Service, mimetype: str) -> None:
    response = send_file(service, service.new_group([]), A, mimetype=mimetype)
    assert (response.status_code, response.json["code"]) == (415, "unsupported_media_type")


WINDOWS = "phone,name\n254711000001,José\n254711000002,Zoë €\n".encode("cp1252")


@pytest.mark.parametrize("lines", [1, 3_000])
def test_a_file_that_is_not_utf_8_is_refused_with_its_line(service: Service, lines: int) -> None:
    """Read as something else it would be another name, and with U+FFFD in it a message in UCS-2 at twice the price."""
    group = service.new_group([])
    content = f"phone,name\n{A},Ann\n".encode() * lines + "254711000003,José\n".encode("cp1252")
    response = send_file(service, group, content)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    assert f"Line {2 * lines + 1:,} has the byte 0xE9" in response.json["errors"][0]["detail"]
    assert "charset=windows-1252" in response.json["errors"][0]["detail"]
    assert contacts(service, group) == []
    assert left_behind(service) == (0, 0)


@pytest.mark.parametrize("charset", ["windows-1252", "Windows-1252", "ISO-8859-1"])
def test_a_file_is_read_in_its_declared_encoding(service: Service, charset: str) -> None:
    group = service.new_group([])
    response = send_file(service, group, WINDOWS, mimetype=f"text/csv; charset={charset}")
    assert response.status_code == 200, response.text
    assert [contact["fields"]["name"] for contact in contacts(service, group)] == ["José", "Zoë €"]


def form(*files: tuple[bytes, str]) -> tuple[bytes, str]:
    """A form with a field and these files of a type, and its media type."""
    parts = [b'--edge\r\nContent-Disposition: form-data; name="note"\r\n\r\nfrom our shop\r\n']
    for content, kind in files:
        head = (
            f'--edge\r\nContent-Disposition: form-data; name="file"; filename="c.csv"\r\nContent-Type: {kind}\r\n\r\n'
        )
        parts.append(head.encode() + content + b"\r\n")
    return b"".join(parts) + b"--edge--\r\n", "multipart/form-data; boundary=edge"


@pytest.mark.parametrize("block", [7, 64 * 1024])
def test_a_file_may_come_as_a_form(service: Service, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(uploaded_file, "BLOCK", block)
    group = service.new_group([])
    body, mimetype = form((WINDOWS, "text/csv; charset=windows-1252"))
    response = send_file(service, group, body, mimetype=mimetype)
    assert response.status_code == 200, response.text
    assert [(each["phone"], each["fields"]["name"]) for each in contacts(service, group)] == [(A, "José"), (B, "Zoë €")]


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (form(), 400, "The form has no file"),
        (form((b"a\n", "text/csv"), (b"b\n", "text/csv")), 400, "more than one file"),
        (form((b"PK\x03\x04" + bytes(100), "application/vnd.ms-excel")), 415, "xlsx"),
        ((b"--edge\r\nno form", "multipart/form-data; boundary=edge"), 400, "form"),
        ((b"no form", "multipart/form-data"), 400, "form"),
        ((form((b"a\n", "text/csv"))[0][:-12], "multipart/form-data; boundary=edge"), 400, "form"),
    ],
    ids=["no-file", "two-files", "xlsx", "broken", "no-boundary", "cut"],
)
def test_a_form_without_a_file_of_contacts(
    service: Service, body: tuple[bytes, str], status: int, problem: str
) -> None:
    group = service.new_group([])
    response = send_file(service, group, body[0], mimetype=body[1])
    assert (response.status_code, problem in response.text) == (status, True), response.text
    assert contacts(service, group) == []
    assert left_behind(service) == (0, 0)


@pytest.mark.parametrize(("fields", "size", "status"), [(19, 1, 200), (20, 1, 400), (1, 60_000, 200), (1, 66_000, 400)])
def test_a_form_has_few_fields_with_short_names(service: Service, fields: int, size: int, status: int) -> None:
    """At most twenty parts with the file, and 64 KiB before the content of each."""
    note = b'--edge\r\nContent-Disposition: form-data; name="' + b"x" * size + b'"\r\n\r\nfrom our shop\r\n'
    file = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="c.csv"\r\n\r\n' + A.encode()
    body = note * fields + file + b"\r\n--edge--\r\n"
    response = send_file(service, service.new_group([]), body, mimetype="multipart/form-data; boundary=edge")
    assert (response.status_code, "too many fields" in response.text) == (status, status == 400), response.text


def test_a_file_without_a_length_is_refused_when_it_is_too_large(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "MAX_UPLOAD_BYTES", len(A))
    for content, status in ((A, 200), (f"{A}0", 413)):
        response = service.client.post(
            f"{PREFIX}/groups/{service.new_group([])}/import",
            content_type="text/csv",
            headers={"Authorization": f"Bearer {service.token}"},
            environ_overrides={"wsgi.input": io.BytesIO(content.encode()), "wsgi.input_terminated": True},
        )
        assert response.status_code == status, response.text
    assert left_behind(service)[1] == 0


EXPORTS = table("Exports of address books")


@pytest.mark.parametrize("row", EXPORTS, ids=[row["Program"] for row in EXPORTS])
def test_an_address_book_is_imported_with_its_mobile_phones(service: Service, row: dict[str, str]) -> None:
    group = service.new_group([])
    made = upload_of(service, group, row["File"], f"?country={row['Country']}" if row["Country"] else "")
    assert ", ".join(contact["phone"] for contact in contacts(service, group)) == row["Read as"], made
    assert (made["status"], made["counts"]["invalid"]) == ("completed", 0)


REFUSED = table("Columns that a person names")


@pytest.mark.parametrize("row", REFUSED, ids=[row["What"] for row in REFUSED])
def test_a_file_whose_column_is_not_certain_is_refused_at_once(service: Service, row: dict[str, str]) -> None:
    group = service.new_group([])
    refused = send_file(service, group, row["File"])
    assert (refused.status_code, refused.json["errors"][0]["pointer"]) == (400, "/phone_column")
    candidates = refused.json.get("candidates", [])
    assert ", ".join(str(each["column"]) for each in candidates) == row["Columns"]
    assert all(value in refused.json["errors"][0]["detail"] for each in candidates for value in each["values"])
    assert left_behind(service) == (0, 0)
    for each in candidates:
        assert upload_of(service, group, row["File"], f"?phone_column={each['column']}")["status"] == "completed"


def test_the_request_names_the_columns(service: Service) -> None:
    group = service.new_group([])
    content = f"Home Phone,Work Phone,First Name,City\n{A},{B},Ann,Nairobi\n+255740000000 / {C},{C},Ben,\n"
    made = upload_of(service, group, content, "?phone_column=home phone&fields=City,first_name")
    assert (made["phone_column"], made["fields_left"]) == ("Home Phone", ["Work Phone"])
    assert made["notes"] == [{"code": "several_phones", "rows": 1, "line": 3}]
    assert made["countries"] == [{"country": "KE", "rows": 1}, {"country": "TZ", "rows": 1}]
    assert contacts(service, group)[0] == {"phone": A, "fields": {"city": "Nairobi", "first_name": "Ann"}, "tags": []}
    for query in ("phone_column=5", "phone_column=0", "phone_column=x", "phone_column=1&fields=town", "fields="):
        assert send_file(service, group, content, f"?{query}").status_code == 400
    assert left_behind(service) == (0, 0)


def test_who_has_opted_out_since_the_last_import_leaves_the_group(service: Service) -> None:
    group = service.new_group([])
    upload_of(service, group, f"Phone,Opted Out\n{A},FALSE\n{B},FALSE\n")
    made = upload_of(service, group, f"Phone,Opted Out\n{A},FALSE\n{B},TRUE\n{C},TRUE\n{C},FALSE\n")
    assert (made["counts"]["invalid"], [each["phone"] for each in contacts(service, group)]) == (2, [A])


def test_pieces_are_taken_in_turns_and_an_import_can_be_canceled(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = service
    monkeypatch.setattr(shared.contacts.text_stream, "CHUNK_CHARACTERS", 130)
    monkeypatch.setattr(uploaded_file, "BLOCK", 130)
    groups = [service.new_group([]) for _ in range(2)]
    content = "\n".join(str(254700000000 + number) for number in range(60))
    made = [send_file(service, group, content).json["import_id"] for group in groups]
    for _ in range(4):
        assert import_chunk(service.engine)
    shown = [service.get(f"/imports/{one}").json for one in made]
    assert [one["status"] for one in shown] == ["running", "running"]
    assert shown[0]["counts"] == shown[1]["counts"]
    assert 0 < shown[0]["bytes_done"] < shown[0]["bytes"]
    for _ in range(2):
        canceled = service.post(f"/imports/{made[0]}/cancel")
        assert (canceled.status_code, canceled.json["status"]) == (200, "canceled")
    while import_chunk(service.engine):
        pass
    shown = [service.get(f"/imports/{one}").json for one in made]
    assert [one["status"] for one in shown] == ["canceled", "completed"]
    assert 0 < len(contacts(service, groups[0])) < 60 == len(contacts(service, groups[1]))
    assert service.post(f"/imports/{made[1]}/cancel").json["code"] == "state_conflict"
    assert left_behind(service) == (0, 0)
    assert audit(service.engine, full=True) == []


def test_an_import_whose_commit_got_no_response_keeps_its_file(service: Service) -> None:
    """The request ends with an error, and drops what it has uploaded."""
    group = UUID(service.new_group([]))
    one = begin_import(service.engine, service.account_id, group, "TZ")
    keep_chunk(service.engine, one, 0, f"phone\n{A}\n")
    service.transact(queue_import, service.account_id, one, 1, 20)
    drop_import(service.engine, one)
    while import_chunk(service.engine):
        pass
    shown = service.get(f"/imports/{one}").json
    assert (shown["status"], shown["counts"]["added"]) == ("completed", 1), shown


def test_a_worker_that_fails_in_the_middle_leaves_no_half_piece(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = service
    monkeypatch.setattr(shared.contacts.text_stream, "CHUNK_CHARACTERS", 130)
    monkeypatch.setattr(uploaded_file, "BLOCK", 130)
    group = service.new_group([])
    made = send_file(service, group, "\n".join(str(254700000000 + n) for n in range(60))).json["import_id"]
    assert import_chunk(service.engine)
    before = service.get(f"/imports/{made}").json

    def fail(*_: Any) -> None:
        raise RuntimeError("in the middle")

    with monkeypatch.context() as broken:
        broken.setattr(worker.jobs.import_contacts, "_progress", fail)
        import_chunk(service.engine)
    assert service.get(f"/imports/{made}").json == before
    assert len(contacts(service, group)) == before["counts"]["added"]
    assert end_backoff(service.engine) == 1
    while import_chunk(service.engine):
        pass
    assert service.get(f"/imports/{made}").json["counts"]["added"] == 60


def test_a_full_or_deleted_group_is_the_error_of_its_import(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service = service
    monkeypatch.setattr(shared.contacts.groups, "MAX_CONTACTS", 1)
    full, gone = service.new_group([]), service.new_group([])
    files = {full: f"{A}\n{B}\n", gone: A}
    made = {group: send_file(service, group, content).json["import_id"] for group, content in files.items()}
    headers = {"Authorization": f"Bearer {service.token}"}
    assert service.client.delete(f"{PREFIX}/groups/{gone}", headers=headers).status_code == 200
    while import_chunk(service.engine):
        pass
    shown = {group: service.get(f"/imports/{one}").json for group, one in made.items()}
    assert {one["status"] for one in shown.values()} == {"failed"}
    assert "at most 1 contacts" in shown[full]["error"]
    assert "deleted" in shown[gone]["error"]
    assert contacts(service, full) == []
    assert left_behind(service) == (0, 0)


def test_the_same_key_imports_once(service: Service) -> None:
    group = service.new_group([])
    first = send_file(service, group, A, Idempotency_Key="i1")
    again = send_file(service, group, A, Idempotency_Key="i1")
    assert json.loads(again.data) == json.loads(first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    other = send_file(service, group, B, Idempotency_Key="i1")
    assert (other.status_code, other.json["code"]) == (422, "idempotency_key_reused")
    assert len(service.get(f"/imports?group_id={group}").json["data"]) == 1
    service.import_files()
    assert left_behind(service) == (0, 0)


def test_an_upload_is_not_canceled_while_it_arrives(service: Service) -> None:
    """It would go on storing chunks that nothing deletes."""
    arriving = begin_import(service.engine, service.account_id, UUID(service.new_group([])), None)
    assert service.post(f"/imports/{arriving}/cancel").json["code"] == "import_not_found"
    assert not service.transact(cancel_import, arriving)
    assert left_behind(service) == (0, 1)
    drop_import(service.engine, arriving)


def test_an_upload_that_was_broken_off_is_forgotten(service: Service) -> None:
    group = service.new_group([])
    with pytest.raises(NoResponse):
        service.client.post(
            f"{PREFIX}/groups/{group}/import",
            content_type="text/csv",
            headers={"Authorization": f"Bearer {service.token}"},
            environ_overrides={"wsgi.input": io.BytesIO(A.encode()), "CONTENT_LENGTH": "1000"},
        )
    assert left_behind(service) == (0, 0)
    statement = """
        INSERT INTO contact_import (id, account_id, group_id, state, worked_at)
        SELECT gen_random_uuid(), account_id, id, 'receiving', now() - interval '3 hours' FROM contact_group
         WHERE id = :group
    """
    service.execute(statement, group=group)
    assert left_behind(service) == (0, 1)
    drop_old(service.engine)
    assert left_behind(service) == (0, 0)
