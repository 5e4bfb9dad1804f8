"""SMPP credentials over HTTP: as customers and operators manage them, and what open binds notice."""

import contextlib
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from shared.accounts.smpp_credentials import NewCredential
from shared.carriers.smpp.constants import Command, Status
from tests.harness.house import wait_until
from tests.harness.operator import OperatorClient
from tests.harness.service import Service
from tests.harness.smpp import Closed, SmppClient, SmppHouse
from tests.harness.times import ahead

HERE = ["127.0.0.0/8"]
LONG_AGO = "2020-01-01T00:00:00Z"


def name_of(service: Service) -> str:
    return f"of-{service.account_id}"


def create(service: Service, system_id: str, **more: Any) -> TestResponse:
    return service.post("/smpp-credentials", system_id=system_id, **{"allowed_ips": HERE, **more})


def made(service: Service, system_id: str = "", **more: Any) -> tuple[str, NewCredential]:
    """The path of a new credential, and how to bind with it."""
    response = create(service, system_id or name_of(service), **more)
    assert response.status_code == 200, response.text
    new = NewCredential(response.json["system_id"], response.json["password"])
    return f"/smpp-credentials/{response.json['credential_id']}", new


def listed(service: Service, system_id: str) -> dict[str, Any]:
    data = service.get("/smpp-credentials").json["data"]
    return next(each for each in data if each["system_id"] == system_id)


def is_ended(client: SmppClient) -> bool:
    """Wait until the server ends the bind."""
    with contextlib.suppress(Closed):
        client.read(Command.UNBIND)
    return True


def test_it_works(smpp: SmppHouse) -> None:
    service = smpp.service
    path, credential = made(service, rate=50, default_sender="ACME")
    client = smpp.bound(credential)
    shown = listed(service, name_of(service))
    [bind] = shown["binds"]
    assert (bind["kind"], bind["address"]) == ("transceiver", "127.0.0.1")
    assert (shown["rate"], shown["max_binds"], shown["window_size"], shown["alphabet"]) == (50, 2, 10, "gsm")
    assert "password" not in shown
    rotated = service.post(f"{path}/rotate")
    assert (rotated.json["password"] != credential.password, rotated.json["server"]) == (True, "")
    assert is_ended(client)
    client = smpp.bound(NewCredential(name_of(service), rotated.json["password"]))
    assert service.delete(path).json["revoked"]
    assert is_ended(client)
    assert service.get("/smpp-credentials").json["data"] == []
    assert service.post(f"{path}/rotate").json["code"] == "not_found"


def test_a_repeated_request_has_one_effect_and_no_password(service: Service) -> None:
    body = {"system_id": "once-1", "allowed_ips": HERE}
    first = service.post("/smpp-credentials", headers={"Idempotency-Key": "once"}, **body)
    again = service.post("/smpp-credentials", headers={"Idempotency-Key": "once"}, **body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert {**again.json, "password": first.json["password"]} == first.json


def test_settings_hold_from_the_next_bind(smpp: SmppHouse) -> None:
    service = smpp.service
    path, credential = made(service)
    first, second = smpp.bound(credential), smpp.bound(credential)
    changed = service.patch(path, max_binds=1, allowed_ips=["192.0.2.0/24"], window_size=1)
    assert (changed.json["max_binds"], changed.json["allowed_ips"]) == (1, ["192.0.2.0/24"])
    for client in (first, second):
        assert client.submit().status == Status.ESME_ROK
    assert smpp.client().bind(credential).status == Status.ESME_RBINDFAIL
    refused = service.patch(path, alphabet="latin1")
    assert (refused.status_code, refused.json["code"]) == (409, "state_conflict")
    for client in (first, second):
        client.ask(Command.UNBIND)
    change = partial(service.patch, path, alphabet="latin1", allowed_ips=HERE)
    wait_until(lambda: change().status_code == 200, 10, "the ends of the binds")
    assert listed(service, name_of(service))["alphabet"] == "latin1"


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("system_id", "two words", "invalid"),
        ("system_id", "x" * 16, "invalid"),
        ("allowed_ips", None, "required"),
        ("allowed_ips", ["everywhere"], "invalid"),
        ("allowed_ips", ["0.0.0.0/0"], "invalid"),
        ("max_binds", 51, "invalid"),
        ("alphabet", "ebcdic", "invalid"),
        ("default_sender", "no!", "invalid_sender_id"),
    ],
)
def test_what_is_wrong_is_named(service: Service, field: str, value: Any, code: str) -> None:
    response = create(service, **{"system_id": "wrong-1", field: value})
    assert response.status_code == 400
    assert [(each["pointer"].split("/")[1], each["code"]) for each in response.json["errors"]] == [(field, code)]


def test_a_name_is_of_one_account(service: Service) -> None:
    other = Service(service.engine)
    made(service, "taken-1")
    assert create(other, "TAKEN-1").json["code"] == "state_conflict"


def test_a_credential_may_do_no_more_than_the_key_that_makes_it(service: Service) -> None:
    def by(**limits: Any) -> TestResponse:
        scopes = limits.pop("scopes", ["keys:write", "sms:send", "sms:read"])
        key = service.post("/api-keys", scopes=scopes, **limits).json
        token = service.post("/auth/token", api_key=key["api_key"], api_secret=key["api_secret"]).json["access_token"]
        return service.post("/smpp-credentials", token=token, system_id="more-1", allowed_ips=HERE)

    limits: list[dict[str, Any]] = [
        {"scopes": ["keys:write", "sms:read"]},
        {"allowed_ips": ["127.0.0.1"]},
        {"requests_per_second": 100},
        {"expires_at": ahead()},
    ]
    assert {(each.status_code, each.json["code"]) for each in (by(**limit) for limit in limits)} == {
        (403, "insufficient_scope")
    }
    assert by().status_code == 200


def test_a_test_key_has_those_of_the_sandbox(service: Service) -> None:
    sandbox = service.in_sandbox()
    made(service, "live-1")
    path, _ = made(sandbox, "test-1")
    assert listed(service, "test-1")["test"] and not listed(service, "live-1")["test"]
    assert [each["system_id"] for each in sandbox.get("/smpp-credentials").json["data"]] == ["test-1"]
    assert service.patch(path, max_binds=3).json["max_binds"] == 3


def test_receipts_and_messages_are_delivered_again(smpp: SmppHouse) -> None:
    service = smpp.service
    path, credential = made(service)
    client = smpp.bound(credential)
    ids = [client.submit().message_id for _ in range(3)]
    service.deliver_receipts()
    assert [client.delivery().receipt["id"] for _ in range(3)] == ids
    assert service.post(f"{path}/replay", since=ahead()).status_code == 400
    response = service.post(f"{path}/replay", since=LONG_AGO)
    assert response.json["system_id"] == name_of(service)
    assert [client.delivery().receipt["id"] for _ in range(3)] == ids


def test_the_list_is_paged(service: Service) -> None:
    for number in range(3):
        made(service, f"page-{number}")
    page = service.get("/smpp-credentials?limit=2").json
    rest = service.get(f"/smpp-credentials?limit=2&cursor={page['next_cursor']}").json
    assert [each["system_id"] for each in page["data"] + rest["data"]] == ["page-0", "page-1", "page-2"]
    assert rest["next_cursor"] is None


def test_an_operator_manages_an_account_and_may_allow_any_address(smpp: SmppHouse, operator: OperatorClient) -> None:
    service = smpp.service
    theirs = f"/accounts/{service.account_id}/smpp-credentials"
    response = operator.post(theirs, system_id="any-1", allowed_ips=None)
    assert response.status_code == 200, response.text
    path = f"{theirs}/{response.json['credential_id']}"
    client = smpp.bound(NewCredential("any-1", response.json["password"]))
    binds = operator.get(f"/smpp-binds?account_id={service.account_id}").json["data"]
    assert [(each["system_id"], each["account_id"]) for each in binds] == [("any-1", service.account_id)]
    assert operator.patch(path, rate=7).json["rate"] == 7
    assert operator.post(f"{path}/replay", since=LONG_AGO).status_code == 200
    assert [each["binds"] for each in operator.get(theirs).json["data"]] != [[]]
    assert operator.post(f"{path}/rotate").json["password"] != response.json["password"]
    assert is_ended(client)
    assert operator.delete(path).json["revoked"]
    assert operator.get(theirs).json["data"] == []
    actions = [each["action"] for each in operator.get(f"/changes?account_id={service.account_id}").json["data"]]
    expected = ["smpp.revoked", "smpp.rotated", "smpp.replayed", "smpp.changed", "smpp.created"]
    assert [each for each in actions if each.startswith("smpp.")] == expected


def test_an_account_that_is_closed_ends_its_binds(smpp: SmppHouse, operator: OperatorClient) -> None:
    service = smpp.service
    client, other = smpp.bound(made(service)[1]), Service(service.engine)
    made(other)
    closed = operator.post(f"/accounts/{service.account_id}/close", reason="a test")
    assert closed.status_code == 200, closed.text
    assert is_ended(client)
    assert other.get("/smpp-credentials").json["data"], "of another account"
