"""The people of an account: their roles, and that an owner always stays."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.accounts.administration import create_key
from shared.accounts.refused import Refused
from shared.people.memberships import end_membership
from shared.people.persons import disable_person
from shared.people.roles import ROLE_SCOPES
from shared.scopes import SCOPES
from tests.harness.database import wait_until_somebody_waits
from tests.harness.people import a_person, changes
from tests.harness.service import PREFIX, SECRET_KEY, Service
from tests.harness.threads import join_all


def roles(service: Service) -> dict[str, str]:
    return {each["email"]: each["role"] for each in service.get("/people").json["data"]}


def test_it_works(service: Service) -> None:
    owner, ann = a_person(service, service.account_id, "owner"), a_person(service, service.account_id, "viewer")
    a_person(service, service.new_account("other"), "owner")
    assert roles(service) == {owner.email: "owner", ann.email: "viewer"}
    first = service.get("/people?limit=1").json
    second = service.get(f"/people?limit=1&cursor={first['next_cursor']}").json
    assert {first["data"][0]["email"], second["data"][0]["email"]} == {owner.email, ann.email}
    assert second["next_cursor"] is None
    token = owner.token(service.account_id)
    assert service.patch(f"/people/{ann.id}", token=token, role="sender").json["role"] == "sender"
    assert service.delete(f"/people/{ann.id}", token=token).json == {"person_id": str(ann.id), "removed": True}
    assert roles(service) == {owner.email: "owner"}
    assert service.delete(f"/people/{ann.id}", token=token).json["code"] == "person_not_found"
    whats = [(actor, what) for actor, what, subject in changes(service) if subject == str(ann.id)]
    assert whats[-2:] == [(f"person {owner.id}", "member.role_changed"), (f"person {owner.id}", "member.removed")]


def test_the_last_owner_cannot_leave_or_be_demoted(service: Service) -> None:
    ann = a_person(service, service.account_id, "owner")
    token = ann.token(service.account_id)
    for response in (
        service.delete(f"/people/{ann.id}", token=token),
        service.patch(f"/people/{ann.id}", role="viewer"),
    ):
        assert (response.status_code, response.json["code"]) == (409, "state_conflict")
    assert service.patch(f"/people/{ann.id}", role="owner").status_code == 200
    disabled = a_person(service, service.account_id, "owner")
    service.transact(disable_person, disabled.email)
    assert service.delete(f"/people/{ann.id}").status_code == 409
    assert service.get("/balance", token=token).status_code == 200
    a_person(service, service.account_id, "owner")
    assert service.delete(f"/people/{ann.id}", token=token).status_code == 200


@pytest.mark.parametrize("attempt", range(5))
def test_two_requests_at_once_leave_an_owner(service: Service, attempt: int) -> None:
    owners = [a_person(service, service.account_id, "owner") for _ in range(4)]
    start, responses = threading.Barrier(len(owners)), list[int]()

    def act(number: int) -> None:
        headers = {"Authorization": f"Bearer {service.token}"}
        start.wait(60)
        path = f"{PREFIX}/people/{owners[number].id}"
        if (number + attempt) % 2:
            response = service.client.delete(path, headers=headers)
        else:
            response = service.client.patch(path, json={"role": "viewer"}, headers=headers)
        responses.append(response.status_code)

    threads = [threading.Thread(target=act, args=(number,)) for number in range(len(owners))]
    for thread in threads:
        thread.start()
    join_all(*threads)
    assert sorted(responses) == [200, 200, 200, 409]
    assert list(roles(service).values()).count("owner") == 1


def test_a_request_waits_for_another_that_removes_an_owner(service: Service) -> None:
    """It sees only then that its own is the last one."""
    ann, bob = (a_person(service, service.account_id, "owner").id for _ in range(2))

    def remove_bob() -> None:
        service.transact(end_membership, service.account_id, bob)

    with service.engine.connect() as first, ThreadPoolExecutor(1) as pool:
        assert end_membership(first, service.account_id, ann)
        second = pool.submit(remove_bob)
        wait_until_somebody_waits(service.engine)
        first.commit()
        with pytest.raises(Refused, match="last owner"):
            second.result(60)
    assert list(roles(service).values()).count("owner") == 1


def test_a_key_gives_no_role_with_more_than_it_has(service: Service) -> None:
    ann = a_person(service, service.account_id, "viewer")
    a_person(service, service.account_id, "owner")
    weak = service.transact(create_key, service.account_id, SECRET_KEY, scopes=["people:write", "people:read"])
    bound = service.transact(
        create_key, service.account_id, SECRET_KEY, scopes=list(SCOPES), allowed_ips=["127.0.0.0/8"]
    )
    for key, missing in ((weak, "balance:read"), (bound, None)):
        body = {"api_key": key.api_key, "api_secret": key.api_secret}
        token = service.client.post(f"{PREFIX}/auth/token", json=body).json["access_token"]
        for response in (
            service.patch(f"/people/{ann.id}", token=token, role="owner"),
            service.delete(f"/people/{ann.id}", token=token),
            service.post("/invitations", token=token, email="x@example.com", role="viewer"),
        ):
            assert (response.status_code, response.json["code"]) == (403, "insufficient_scope")
            assert response.json.get("scope") == missing
    assert roles(service)[ann.email] == "viewer"


def test_a_key_cannot_demote_a_person_who_may_do_more(service: Service) -> None:
    owner = a_person(service, service.account_id, "owner")
    a_person(service, service.account_id, "owner")
    scopes = [*ROLE_SCOPES["viewer"], "people:write"]
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=scopes)
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    token = service.client.post(f"{PREFIX}/auth/token", json=body).get_json()["access_token"]
    refused = service.patch(f"/people/{owner.id}", token=token, role="viewer")
    assert (refused.status_code, refused.json["code"]) == (403, "insufficient_scope")


def listed(service: Service, query: str = "") -> list[dict[str, Any]]:
    return list(service.get(f"/changes{query}").json["data"])


def test_the_newest_change_comes_first(service: Service) -> None:
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
