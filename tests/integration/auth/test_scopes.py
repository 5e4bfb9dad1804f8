"""Every route of the customers' API: the scope of tests/harness/authorization.py is needed, and is enough.

Which role has which scopes is tested in tests/unit/people/test_credentials.py.
"""

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from api.endpoint import ENDPOINTS, Endpoint
from shared.accounts.administration import create_key
from shared.scopes import SCOPES
from tests.harness import authorization
from tests.harness.authorization import Route
from tests.harness.owned import NOBODYS
from tests.harness.people import a_person
from tests.harness.service import PREFIX, SECRET_KEY, Service
from tests.integration.auth.test_two_accounts import PAIRS, UNKNOWN, VARIABLE, Pair, everything, name, owned_by

ROUTES = list(authorization.CUSTOMERS.values())
SETS = {route.scopes for route in ROUTES if route.needs_scopes}
NONSENSE = {"no_such_field": 1}
"""A body that no route takes: a route that may be used refuses it, or has no body."""
BODIES = {"PATCH /sends/<uuid:send_id>": {"rate": 5}}
"""Bodies of routes that need a further scope after they have read the body."""
UNFIT = ("validation_failed", "sender_not_registered", "group_not_found", "recipient_suppressed", "sandbox_only")
"""What is wrong with some of the examples for a live account."""


class Tokens:
    """Tokens of an account by their scopes, and that of a person's session."""

    def __init__(self, engine: Engine) -> None:
        self.service = Service(engine)
        self.with_only = {scopes: self.token(*scopes) for scopes in SETS}
        self.without = {scope: self.token(*(each for each in SCOPES if each != scope)) for scope in SCOPES}

    def token(self, *scopes: str, test: bool = False) -> str:
        """The token of a new key."""
        key = self.service.transact(create_key, self.service.account_id, SECRET_KEY, test=test, scopes=scopes)
        body = {"api_key": key.api_key, "api_secret": key.api_secret}
        return str(self.service.client.post(f"{PREFIX}/auth/token", json=body).get_json()["access_token"])

    def session(self) -> str:
        """The token of a session that has just begun."""
        return a_person(self.service, self.service.account_id, "owner").session

    def call(self, route: Route, token: str | None) -> TestResponse:
        """The route for what nobody has."""
        path = VARIABLE.sub(lambda found: NOBODYS.get(found[1], UNKNOWN), route.path)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return self.service.client.open(
            PREFIX + path, method=route.method, headers=headers, json=BODIES.get(route.name, NONSENSE)
        )


def by_scope(*scopes: str) -> pytest.MarkDecorator:
    """The routes of these scopes; without any, those that need certain ones."""
    chosen = [each for each in ROUTES if (each.scopes == scopes if scopes else each.needs_scopes)]
    return pytest.mark.parametrize("route", [pytest.param(each, id=each.name) for each in chosen])


@pytest.fixture(scope="module")
def tokens(engine: Engine) -> Tokens:
    return Tokens(engine)


def is_served(response: TestResponse) -> bool:
    """Whether the route got as far as its body, or further."""
    if response.status_code < 400:
        return True
    return response.status_code not in (401, 500) and response.json["code"] != "insufficient_scope"


@by_scope()
def test_the_scope_is_needed_and_is_enough(tokens: Tokens, route: Route) -> None:
    before = everything(tokens.service.engine)
    for scope in route.scopes:
        refused = tokens.call(route, tokens.without[scope])
        refusal = refused.status_code, refused.json["code"], refused.json.get("scope")
        assert refusal == (403, "insufficient_scope", scope)
    assert everything(tokens.service.engine) == before
    allowed = tokens.call(route, tokens.with_only[route.scopes])
    assert is_served(allowed), allowed.text


@pytest.fixture(scope="module")
def owners(engine: Engine) -> Pair:
    return Pair(engine, PAIRS[3])


@pytest.mark.parametrize("endpoint", [pytest.param(each, id=name(each)) for each in ENDPOINTS if each.scope])
def test_the_token_of_a_person_is_enough(owners: Pair, endpoint: Endpoint) -> None:
    values = owned_by(owners.owner, VARIABLE.findall(endpoint.path))
    response = owners.ask(endpoint, values, owners.owner.token)
    assert response.status_code in (200, 409) or response.json["code"] in UNFIT, response.text


def test_a_test_token_manages_no_people(tokens: Tokens) -> None:
    test_token = tokens.token(*SCOPES, test=True)
    for route in (each for each in ROUTES if each.scopes[0].startswith("people:")):
        assert tokens.call(route, test_token).json["code"] == "insufficient_scope", route.name


@by_scope("any")
def test_any_token_is_needed_and_is_enough(tokens: Tokens, route: Route) -> None:
    assert tokens.call(route, None).status_code == 401
    assert tokens.call(route, tokens.session()).status_code == 401
    for token in tokens.with_only.values():
        response = tokens.call(route, token)
        assert is_served(response), response.text


@by_scope("session")
def test_a_session_is_needed_and_is_enough(tokens: Tokens, route: Route) -> None:
    assert tokens.call(route, None).status_code == 401
    assert tokens.call(route, tokens.service.token).status_code == 401
    response = tokens.call(route, tokens.session())
    assert is_served(response), response.text


@by_scope("open")
def test_no_token_is_needed(tokens: Tokens, route: Route) -> None:
    response = tokens.call(route, None)
    assert is_served(response) or response.json["code"] == "invalid_credentials", response.text
