"""The account's audit log over the API."""

from typing import Any

from shared.accounts.administration import allow_authentication
from shared.accounts.audit_log import Actor
from tests.harness.people import a_person
from tests.harness.service import Service


def listed(service: Service, query: str = "") -> list[dict[str, Any]]:
    return list(service.get(f"/changes{query}").json["data"])


def test_it_works(service: Service) -> None:
    ann = a_person(service, service.account_id, "owner")
    key = service.post("/api-keys", token=ann.token(service.account_id), name="shop").json["api_key"]
    newest = listed(service)[0]
    assert (newest["action"], newest["subject"], newest["actor"]) == ("key.created", key, f"person {ann.id}")
    assert newest["actor_name"] == "Ann Otieno" and newest["after"]["name"] == "shop" and newest["before"] is None
    assert newest["address"] == "127.0.0.1" and newest["request_id"].startswith("req_")


def test_a_person_who_left_is_still_named_and_a_key_is_shown_by_its_id(service: Service) -> None:
    a_person(service, service.account_id, "owner")
    ann = a_person(service, service.account_id, "owner")
    service.post("/sender-ids", token=ann.token(service.account_id), sender_id="SHOP", use_case="orders")
    service.delete(f"/people/{ann.id}")
    removed, requested = listed(service)[:2]
    assert removed["action"] == "member.removed" and removed["actor"].startswith("key smsk_live_")
    assert removed["actor_name"] is None
    assert (requested["action"], requested["actor_name"]) == ("sender.requested", "Ann Otieno")


def test_operators_are_not_named(service: Service) -> None:
    admin = a_person(service, operator_role="admin")
    with service.engine.begin() as connection:
        allow_authentication(connection, service.account_id, True, by=Actor("operator alice", "req_1", "10.1.2.3"))
        allow_authentication(connection, service.account_id, False, by=Actor(f"person {admin.id}", "req_2", "10.1.2.3"))
        allow_authentication(connection, service.account_id, True, by=Actor("operator key opk_x", "req_3", "10.1.2.3"))
    response = service.get("/changes?limit=3")
    assert {each["actor"] for each in response.json["data"]} == {"operator"}
    for secret in ("alice", "10.1.2.3", "req_1", "req_2", "opk_x", str(admin.id)):
        assert secret not in response.text


def test_pages_follow_each_other(service: Service) -> None:
    for number in range(4):
        service.post("/api-keys", name=f"key {number}")
    ids, cursor = list[int](), ""
    for _ in range(20):
        response = service.get(f"/changes?limit=2{cursor}").json
        ids += [each["change_id"] for each in response["data"]]
        if response["next_cursor"] is None:
            break
        cursor = f"&cursor={response['next_cursor']}"
    assert ids == [each["change_id"] for each in listed(service, "?limit=1000")]
    assert ids == sorted(ids, reverse=True) and len(ids) >= 4
    assert service.get("/changes?cursor=eA").status_code == 400
