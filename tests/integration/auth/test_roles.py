"""Every route and every role: what is above a role is refused and changes nothing; the rest is allowed.

The routes are those that are declared. What each role may do is in the table of tests/harness/authorization.py, and not
derived from the scopes.
"""

from typing import Any

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from api.endpoint import ENDPOINTS, Endpoint
from tests.harness.authorization import CUSTOMERS
from tests.harness.people import a_person
from tests.harness.service import PREFIX, Service
from tests.integration.auth.test_two_accounts import VARIABLE, body_of, everything, file_of, name, owned_by

ROLES = ("owner", "sender", "viewer")
WITH_SCOPE = [each for each in ENDPOINTS if each.scope]
UNFIT = ("validation_failed", "sender_not_registered", "group_not_found", "recipient_suppressed")
"""What is wrong with some of the examples for this account."""
NO_LIVE_CREDITS = "POST /sandbox/refill"


def may(role: str, endpoint: Endpoint) -> bool:
    """Whether a person in the role may use the endpoint."""
    return role in CUSTOMERS[name(endpoint)].roles


class Account:
    """An account or its sandbox, and the token of a person of it in some role."""

    def __init__(self, engine: Engine, role: str, *, test: bool) -> None:
        live = Service(engine, credits=10_000)
        self.role, self.test = role, test
        self.service = live.in_sandbox() if test else live
        self.token = a_person(live, live.account_id, role).token(live.account_id, test=test)

    def ask(self, endpoint: Endpoint, values: dict[str, str]) -> TestResponse:
        """The endpoint's request, with the example body of its documentation, by the person."""
        path = PREFIX + VARIABLE.sub(lambda found: values[found[1]], endpoint.path)
        headers = {"Authorization": f"Bearer {self.token}"}
        file = file_of(endpoint)
        body: dict[str, Any] = (
            {"json": body_of(endpoint)} if file is None else {"data": file, "content_type": "text/csv"}
        )
        return self.service.client.open(path, method=endpoint.method, headers=headers, **body)


KINDS = [pytest.param((role, test), id=f"{role}-{'sandbox' if test else 'live'}") for role in ROLES for test in (0, 1)]


@pytest.fixture(scope="module", params=KINDS)
def account(engine: Engine, request: pytest.FixtureRequest) -> Account:
    role, test = request.param
    return Account(engine, role, test=bool(test))


def rows(account: Account) -> dict[str, Any]:
    return everything(account.service.engine)


def test_it_works() -> None:
    may_use = {role: {name(each) for each in WITH_SCOPE if may(role, each)} for role in ROLES}
    assert may_use["viewer"] < may_use["sender"] < may_use["owner"] == set(map(name, WITH_SCOPE))


@pytest.mark.parametrize("endpoint", [pytest.param(each, id=name(each)) for each in WITH_SCOPE])
def test_a_role_can_do_only_what_it_allows(account: Account, endpoint: Endpoint) -> None:
    values = owned_by(account.service, VARIABLE.findall(endpoint.path))
    of_people = account.test and CUSTOMERS[name(endpoint)].scopes[0].startswith("people:")
    if of_people or not may(account.role, endpoint):
        before = rows(account)
        response = account.ask(endpoint, values)
        assert (response.status_code, response.json["code"]) == (403, "insufficient_scope")
        assert rows(account) == before
        return
    response = account.ask(endpoint, values)
    allowed = response.status_code in (200, 409) or response.json["code"] in UNFIT
    sandbox_only = name(endpoint) == NO_LIVE_CREDITS and not account.test
    assert allowed or (sandbox_only and response.json["code"] == "sandbox_only"), response.text


def test_a_persons_token_creates_keys_of_its_own_kind_live_or_test(account: Account) -> None:
    response = account.service.post("/api-keys", token=account.token, scopes=["sms:read"])
    assert (response.status_code, response.json.get("test")) == (
        (200, account.test) if account.role == "owner" else (403, None)
    )
