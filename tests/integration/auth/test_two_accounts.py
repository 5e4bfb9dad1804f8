"""Two accounts and every route: to the one, what is the other's is as if it were not there.

So it is with an account and its sandbox, in both directions, but for the sandbox's keys and SMPP credentials, which are
the account's too.

The routes are those that are declared, so a new one is tested by being there.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from api.endpoint import ENDPOINTS, Endpoint
from api.openapi.document import document
from tests.harness.owned import NOBODYS, OF_NO_ACCOUNT, OPTED_OUT, OWNED, PHONE, REFERENCE, TEXT, a_send
from tests.harness.people import a_person
from tests.harness.service import PREFIX, Service
from tests.harness.table_sums import table_sums

UNKNOWN = "01900000-0000-7000-8000-000000000000"
VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")
OWN = [each for each in ENDPOINTS if each.scope is not None and set(VARIABLE.findall(each.path)) - set(OF_NO_ACCOUNT)]
LISTS = [each for each in ENDPOINTS if each.scope is not None and each.method == "GET" and "<" not in each.path]
FILTERS = [("phone", PHONE), ("phone", OPTED_OUT), ("reference", REFERENCE), ("sender_id", "OWN0")]
CONFLICTS = (409, 403)
"""What the owner of an object may get besides a 200: that it is not possible in this state."""


SHARED = {"credential_id", "key_id"}
"""What an account has in common with its sandbox."""
PAIRS = ("two accounts", "live and its test key", "sandbox and its live key", "owners of two accounts")


class Pair:
    """Somebody who owns things, and a stranger to them."""

    def __init__(self, engine: Engine, kind: str) -> None:
        live = Service(engine, credits=10_000)
        sandbox = live.in_sandbox()
        self.owner = sandbox if kind == PAIRS[2] else live
        self.keys_are_shared = kind == PAIRS[2]
        self.is_test = kind == PAIRS[1]
        other = live.new_account("stranger")
        if kind == PAIRS[3]:
            self.owner.token = a_person(live, live.account_id, "owner").token(live.account_id)
        self.token = {
            PAIRS[0]: live.new_token(other),
            PAIRS[1]: sandbox.token,
            PAIRS[2]: live.token,
            PAIRS[3]: a_person(live, other, "owner").token(other),
        }[kind]

    def ask(self, endpoint: Endpoint, values: dict[str, str], token: str) -> TestResponse:
        """The endpoint's request, with the example body of its documentation."""
        path = VARIABLE.sub(lambda found: values[found[1]], endpoint.path)
        headers = {"Authorization": f"Bearer {token}"}
        file = file_of(endpoint)
        body: dict[str, Any] = (
            {"json": body_of(endpoint)} if file is None else {"data": file, "content_type": "text/csv"}
        )
        return self.owner.client.open(PREFIX + path, method=endpoint.method, headers=headers, **body)


@pytest.fixture(scope="module", params=PAIRS)
def pair(engine: Engine, request: pytest.FixtureRequest) -> Pair:
    return Pair(engine, request.param)


def owned_by(service: Service, variables: Iterable[str]) -> dict[str, str]:
    """One of each for the account."""
    made: dict[str, str] = {}
    for variable in variables:
        made[variable] = OF_NO_ACCOUNT.get(variable) or OWNED[variable](service, made)
    return made


@pytest.fixture(scope="module")
def owned(pair: Pair) -> dict[str, str]:
    """One of everything."""
    return owned_by(pair.owner, OWNED)


def body_of(endpoint: Endpoint) -> Any:
    """The example body of an endpoint's documentation; None where it takes none."""
    path = VARIABLE.sub(r"{\1}", PREFIX + endpoint.path)
    operation = DOCUMENT["paths"][path][endpoint.method.lower()]
    if "requestBody" not in operation:
        return None
    media = operation["requestBody"]["content"].get("application/json")
    return None if media is None else next(iter(media["examples"].values()))["value"]


def file_of(endpoint: Endpoint) -> str | None:
    """The example file of an endpoint that takes CSV."""
    path = VARIABLE.sub(r"{\1}", PREFIX + endpoint.path)
    operation = DOCUMENT["paths"][path][endpoint.method.lower()]
    media = operation.get("requestBody", {"content": {}})["content"].get("text/csv")
    return None if media is None else str(media["example"])


DOCUMENT = document()


def everything(engine: Engine) -> dict[str, Any]:
    """A sum over the rows of each table but the keys, of which it is noted when they were used last."""
    return table_sums(engine, "api_key")


def status_and_body(response: TestResponse, *hidden: str) -> tuple[int, str]:
    """Status and body without what differs from request to request, and without the ids that were asked for."""
    body = response.get_json(force=True) if response.data else {}
    body.pop("request_id", None)
    made = json.dumps(body, sort_keys=True)
    for each in hidden:
        made = made.replace(each, "…")
    return response.status_code, made


def name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


def test_it_works(pair: Pair) -> None:
    assert len(OWN) > 10 and len(LISTS) > 5
    send = a_send(pair.owner)["send_id"]
    assert pair.owner.get(f"/sends/{send}").status_code == 200
    assert pair.owner.get(f"/sends/{send}", token=pair.token).status_code == 404


@pytest.mark.parametrize("endpoint", [pytest.param(each, id=name(each)) for each in OWN])
def test_an_object_of_another_account_looks_like_an_unknown_one(pair: Pair, endpoint: Endpoint) -> None:
    variables = VARIABLE.findall(endpoint.path)
    mine = owned_by(pair.owner, variables)
    if not SHARED.isdisjoint(variables) and pair.keys_are_shared:
        assert pair.ask(endpoint, mine, pair.token).status_code == 200
        return
    nobodys = {variable: NOBODYS.get(variable, UNKNOWN) for variable in variables}
    before = everything(pair.owner.engine)
    foreign = status_and_body(pair.ask(endpoint, mine, pair.token), *mine.values())
    assert foreign == status_and_body(pair.ask(endpoint, nobodys, pair.token), *nobodys.values())
    assert foreign[0] == 404 or not contains(foreign[1])
    assert everything(pair.owner.engine) == before
    own = pair.ask(endpoint, mine, pair.owner.token)
    assert own.status_code == 200 or own.status_code in CONFLICTS, f"nothing is shown: {own.text}"


def contains(content: str) -> bool:
    return any(secret in content for secret in (PHONE, OPTED_OUT, TEXT, REFERENCE))


@pytest.mark.parametrize("endpoint", [pytest.param(each, id=name(each)) for each in LISTS])
def test_no_list_shows_anything_of_another_account(pair: Pair, owned: dict[str, str], endpoint: Endpoint) -> None:
    known = set(endpoint.query().load_fields) if endpoint.query else set()
    filters = [f"?{each}={value}" for each, value in FILTERS if each in known]
    for query in ("", *filters):
        response = pair.owner.get(endpoint.path + query, token=pair.token)
        of_people = pair.is_test and str(endpoint.scope).startswith("people:")
        assert response.status_code == (403 if of_people else 200), response.text
        assert not contains(response.text)
        for variable, value in owned.items():
            if variable not in SHARED or not pair.keys_are_shared:
                assert value not in response.text


def test_a_cursor_of_another_account_gives_an_empty_page(pair: Pair) -> None:
    for _ in range(3):
        a_send(pair.owner)
    cursor = pair.owner.get("/sends?limit=1").json["next_cursor"]
    assert pair.owner.get(f"/sends?cursor={cursor}", token=pair.token).json["data"] == []


@pytest.mark.parametrize("field", ["group_id", "sender_id"])
def test_a_send_cannot_use_a_group_or_sender_id_of_another_account(pair: Pair, field: str) -> None:
    pair.owner.approve(pair.owner.account_id, "MINE")
    group = pair.owner.new_group([PHONE])
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi"}
    mine, nobodys = {"group_id": (group, UNKNOWN), "sender_id": ("MINE", "NOBODY")}[field]
    before = everything(pair.owner.engine)
    responses = [
        status_and_body(pair.owner.post("/sms/send-group", token=pair.token, **{**body, field: value}), value)
        for value in (mine, nobodys)
    ]
    assert responses[0] == responses[1]
    assert responses[0][0] in (403, 404)
    assert everything(pair.owner.engine) == before
    assert pair.owner.post("/sms/send-group", **{**body, field: mine}).status_code == 200


def test_another_accounts_token_is_not_revoked(pair: Pair) -> None:
    mine = pair.owner.new_token(pair.owner.account_id)
    assert pair.owner.post("/auth/revoke", token=pair.token, token_to_revoke=mine).status_code == 400
    response = pair.owner.client.post(
        f"{PREFIX}/auth/revoke", json={"token": mine}, headers={"Authorization": f"Bearer {pair.token}"}
    )
    assert response.get_json() == {"revoked": True}
    assert pair.owner.get("/balance", token=mine).status_code == 200
