"""Groups and contacts by the API."""

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from shared.accounts.change_account import change_account
from shared.audit.check import audit
from shared.contacts.groups import add_contacts
from shared.sms.numbering import Numbering
from tests.harness.pages import every
from tests.harness.service import PREFIX, Service
from tests.harness.times import ahead
from worker.jobs.expand import expand
from worker.jobs.purge_groups import purge_deleted_groups

A, B, C = "254711000001", "254711000002", "254711000003"


def call(service: Service, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
    token = headers.pop("token", service.token)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.client.open(
        PREFIX + path, method=method, json=body, headers={"Authorization": f"Bearer {token}", **named}
    )


def new_group(service: Service, name: str = "VIP") -> str:
    response = service.post("/groups", name=name)
    assert response.status_code == 200, response.json
    return str(response.json["group_id"])


def put(service: Service, group: str, contacts: list[Any], **headers: str) -> Any:
    response = call(service, "POST", f"/groups/{group}/contacts", {"contacts": contacts}, **headers)
    assert response.status_code == 200, response.json
    return response.json


def listed(service: Service, group: str, query: str = "") -> list[dict[str, Any]]:
    return list(service.get(f"/groups/{group}/contacts{query}").json["data"])


def counted(service: Service, group: str) -> tuple[int, int]:
    """The count that the group shows, and the contacts that it has."""
    with service.engine.connect() as connection:
        row = connection.execute(text("SELECT count(*) AS n FROM contact WHERE group_id = :group"), {"group": group})
        return service.get(f"/groups/{group}").json["contact_count"], row.one().n


def test_it_works(service: Service) -> None:
    group = new_group(service)
    made = put(service, group, [A, {"phone": B, "fields": {"name": "Ann"}, "tags": ["vip"]}])
    assert made["counts"] == {"submitted": 2, "added": 2, "changed": 0, "unchanged": 0, "duplicate": 0, "invalid": 0}
    assert made["contact_count"] == 2
    assert listed(service, group) == [
        {"phone": A, "fields": {}, "tags": []},
        {"phone": B, "fields": {"name": "Ann"}, "tags": ["vip"]},
    ]
    removed = call(service, "DELETE", f"/groups/{group}/contacts", {"phones": [A, A, f"+{A}", C, "x", 5]}).json
    assert removed == {"group_id": group, "contact_count": 1, "removed": 1, "absent": 3}
    assert counted(service, group) == (1, 1)


def test_a_group_is_made_renamed_and_deleted(service: Service) -> None:
    group = new_group(service, "One")
    other = new_group(service, "Two")
    assert call(service, "PATCH", f"/groups/{group}", {"name": "First"}).json["name"] == "First"
    for method, path in (("POST", "/groups"), ("PATCH", f"/groups/{other}")):
        taken = call(service, method, path, {"name": "First"})
        assert (taken.status_code, taken.json["code"]) == (409, "name_taken")
    assert call(service, "PATCH", f"/groups/{group}", {"name": "First"}).status_code == 200
    assert call(service, "DELETE", f"/groups/{group}").json == {"group_id": group, "deleted": True}
    for method in ("GET", "DELETE"):
        assert call(service, method, f"/groups/{group}").json["code"] == "group_not_found"
    assert new_group(service, "First") != group
    assert [entry["name"] for entry in service.get("/groups").json["data"]] == ["Two", "First"]


def test_each_invalid_contact_is_reported_with_its_index(service: Service) -> None:
    group = new_group(service)
    made = put(
        service,
        group,
        [
            A,
            "+254711000001",
            "0712",
            7,
            {"phone": B, "feilds": {}},
            {"phone": B, "fields": {"first name": "Ann"}},
            {"phone": B, "fields": {"name": 5}},
            {"phone": B, "fields": {"name": "x" * 256}},
            {"phone": B, "fields": {"name": "a\u0007b"}},
            {"phone": B, "tags": ["vip", ""]},
            {"phone": B, "tags": [str(number) for number in range(21)]},
            {"fields": {}},
            [],
            None,
            {"phone": B, "fields": {"name": "Ann"}},
        ],
    )
    assert made["counts"] == {"submitted": 15, "added": 2, "changed": 0, "unchanged": 0, "duplicate": 1, "invalid": 12}
    assert [(entry["index"], entry["code"]) for entry in made["rejected"]] == [
        (1, "duplicate"),
        (2, "invalid_phone"),
        (3, "invalid_phone"),
        (4, "unknown_field"),
        (5, "invalid"),
        (6, "wrong_type"),
        (7, "invalid"),
        (8, "invalid"),
        (9, "invalid"),
        (10, "too_long"),
        (11, "invalid_phone"),
        (12, "invalid_phone"),
        (13, "invalid_phone"),
    ]
    assert made["rejected"][0]["duplicate_of"] == 0
    assert "`fields`" in made["rejected"][3]["detail"]
    nothing = call(service, "POST", f"/groups/{group}/contacts", {"contacts": ["x", None]})
    assert (nothing.status_code, nothing.json["code"], len(nothing.json["rejected"])) == (400, "no_valid_contacts", 2)


@pytest.mark.parametrize("name", ["", " ", " VIP", "VIP ", "a\nb", "x" * 101, 5, None])
def test_a_wrong_name_is_refused(service: Service, name: Any) -> None:
    group = new_group(service, "Group")
    for method, path in (("POST", "/groups"), ("PATCH", f"/groups/{group}")):
        response = call(service, method, path, {"name": name})
        assert (response.status_code, response.json["errors"][0]["pointer"]) == (400, "/name")


def test_fields_and_tags_replace_those_before_and_are_kept_where_not_given(service: Service) -> None:
    group = new_group(service)
    put(service, group, [{"phone": A, "fields": {"name": "Ann", "city": "Mombasa"}, "tags": ["vip", "new"]}])
    assert put(service, group, [A])["counts"]["unchanged"] == 1
    assert put(service, group, [{"phone": A, "fields": {"name": "Ann"}}, B])["counts"]["changed"] == 1
    assert listed(service, group)[0] == {"phone": A, "fields": {"name": "Ann"}, "tags": ["vip", "new"]}
    assert put(service, group, [{"phone": A, "fields": {"name": "Ann"}, "tags": []}])["counts"]["changed"] == 1
    assert put(service, group, [{"phone": A, "fields": {}, "tags": []}])["counts"]["changed"] == 1
    again = put(service, group, [{"phone": A, "fields": {}, "tags": []}, {"phone": B}])["counts"]
    assert (again["changed"], again["unchanged"]) == (0, 2)
    assert listed(service, group) == [{"phone": A, "fields": {}, "tags": []}, {"phone": B, "fields": {}, "tags": []}]


def test_pages_and_filters(service: Service) -> None:
    group = new_group(service)
    phones = [str(254711000000 + number) for number in range(25)]
    put(service, group, [{"phone": phone, "tags": ["odd"] if int(phone) % 2 else []} for phone in phones])
    found = every(service.get, f"/groups/{group}/contacts?limit=10")
    assert [contact["phone"] for contact in found] == phones
    assert [contact["phone"] for contact in listed(service, group, "?tag=odd")] == phones[1::2]
    assert [contact["phone"] for contact in listed(service, group, f"?phone={phones[3]}")] == [phones[3]]
    assert listed(service, group, f"?phone={phones[4]}&tag=odd") == []
    for wrong in ("?phone=0711", "?limit=0", "?cursor=x", "?tag=", "?colour=red"):
        response = service.get(f"/groups/{group}/contacts{wrong}")
        assert (response.status_code, response.json["code"]) == (400, "validation_failed"), wrong


def test_numbers_are_read_before_a_transaction_begins(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """100,000 numbers take seconds, in which a transaction would stand still, until Postgres ends it."""
    service.transact(change_account, service.account_id, {"country": "DE"})
    group = service.new_group([])
    in_use: list[int] = []

    def read(self: Numbering, written: str) -> str:
        in_use.append(service.engine.pool.checkedout())  # type: ignore[attr-defined]
        return written

    monkeypatch.setattr(Numbering, "read", read)
    phones = ["254711009918"]
    assert service.post(f"/groups/{group}/contacts", contacts=phones).json["counts"]["added"] == 1
    assert service.post("/suppressions", phones=phones).json["counts"]["added"] == 1
    headers = {"Authorization": f"Bearer {service.token}"}
    path = f"{PREFIX}/groups/{group}/contacts"
    assert service.client.delete(path, json={"phones": phones}, headers=headers).json["removed"] == 1
    assert in_use == [0, 0, 0]


def test_an_export_is_csv_that_no_spreadsheet_runs(service: Service) -> None:
    group = new_group(service)
    put(
        service,
        group,
        [
            {"phone": A, "fields": {"name": '=HYPERLINK("http://x","y")', "note": "a,b"}, "tags": ["@vip", "new"]},
            {"phone": B, "fields": {"city": "+1", "name": "-1+1"}},
            C,
        ],
    )
    response = call(service, "GET", f"/groups/{group}/contacts", Accept="text/csv")
    assert response.mimetype == "text/csv"
    rows = list(csv.reader(io.StringIO(response.text)))
    assert rows == [
        ["phone", "city", "name", "note", "tags"],
        [A, "", '\'=HYPERLINK("http://x","y")', "a,b", "'@vip;new"],
        [B, "'+1", "'-1+1", "", ""],
        [C, "", "", "", ""],
    ]


def test_an_export_has_a_bounded_number_of_columns(service: Service) -> None:
    """Otherwise every row has as many cells as the whole group has fields."""
    group = new_group(service)
    entries = [
        {"phone": str(254711000000 + contact), "fields": {f"f{contact}_{field}": "x" for field in range(25)}}
        for contact in range(9)
    ]
    put(service, group, entries)
    response = call(service, "GET", f"/groups/{group}/contacts", Accept="text/csv")
    head, *rows = list(csv.reader(io.StringIO(response.text)))
    assert head == ["phone", "fields", "tags"]
    assert [(row[0], json.loads(row[1])) for row in rows] == [(entry["phone"], entry["fields"]) for entry in entries]


def test_counts_stay_exact_while_many_change_a_group(service: Service) -> None:
    group = new_group(service)

    def change(turn: int) -> None:
        phones = [str(254711000000 + turn * 20 + number) for number in range(40)]
        put(service, group, list(phones))
        assert call(service, "DELETE", f"/groups/{group}/contacts", {"phones": phones[:10]}).status_code == 200

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(12)))
    shown, are_there = counted(service, group)
    assert shown == are_there > 0


def test_a_group_may_be_deleted_while_it_is_sent_to(service: Service) -> None:
    service = Service(service.engine, credits=20_000)
    group = new_group(service)
    service.transact(add_contacts, UUID(group), range(255700000000, 255700012000))
    made = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", send_at=ahead()).json
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=made["send_id"])
    assert expand(service.engine)
    assert call(service, "DELETE", f"/groups/{group}").status_code == 200
    assert purge_deleted_groups(service.engine) == 0, "a send still needs them"
    service.sweep()
    assert purge_deleted_groups(service.engine) == 2
    assert not service.scalar("SELECT count(*) FROM contact WHERE group_id = :g", g=group)
    assert audit(service.engine, full=True) == []
    assert service.counts(made["send_id"]) == {"submitted": 12_000, "accepted": 12_000, "sent": 12_000}
