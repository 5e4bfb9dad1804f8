"""The account's audit log over the API."""

from typing import Any

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
