"""Every route of the operator API: who may use it, and what it does with bad input."""

import re
from typing import Any

import pytest
from sqlalchemy import Engine

from api.endpoint import OPERATORS, Endpoint
from api.openapi.document import document
from shared.accounts.operator_keys import OPERATOR_SCOPES
from tests.harness.authorization import OPERATORS as OPERATOR_ROUTES
from tests.harness.authorization import Route, operation_of
from tests.harness.operator import PREFIX, OperatorClient
from tests.harness.people import a_person
from tests.harness.service import Service
from tests.harness.table_sums import table_sums

VARIABLE = re.compile(r"<(?:(\w+):)?(\w+)>")
WITH_SCOPE = [each for each in OPERATORS.operations if each.scope is not None]
NEEDING_SCOPE = [route for route in OPERATOR_ROUTES.values() if route.needs_scopes]
WITH_BODY = [each for each in WITH_SCOPE if each.body is not None]
WITH_QUERY = [each for each in WITH_SCOPE if each.query is not None]
NOBODYS = {"int": "999999999", "uuid": "01900000-0000-7000-8000-000000000000", "": "nobodys"}
DOCUMENT = document(OPERATORS)
WRONG: list[Any] = [None, [], {}, "", "x" * 5000, -1, 0, 10**30, 1.5, True, "\u202e", [None], {"a": 1}, "254 7"]
"""Values of which most do not fit into any field."""
BODIES = [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b'{"reason": "\\u0000"}', b'{"nobody": 1}']


def marks(endpoints: list[Endpoint]) -> Any:
    return pytest.mark.parametrize(
        "endpoint", [pytest.param(each, id=f"{each.method} {each.path}") for each in endpoints]
    )


@pytest.fixture(scope="module")
def for_all(engine: Engine) -> OperatorClient:
    return OperatorClient(Service(engine))


@pytest.fixture(scope="module")
def without(for_all: OperatorClient) -> dict[str, OperatorClient]:
    """For each scope, an operator with all scopes but this one."""
    return {scope: OperatorClient(for_all.service, *(OPERATOR_SCOPES.keys() - {scope})) for scope in OPERATOR_SCOPES}


@pytest.fixture(scope="module")
def with_one(for_all: OperatorClient) -> dict[str, OperatorClient]:
    """For each scope, an operator with this one alone."""
    return {scope: OperatorClient(for_all.service, scope) for scope in OPERATOR_SCOPES}


@pytest.fixture(scope="module")
def in_roles(for_all: OperatorClient) -> dict[str, str]:
    """The tokens of people, by their role."""
    queries = {"admin": {}, "support": {}, "support-with-reason": {"reason": "Ticket 4711: receipts are missing"}}
    tokens = {}
    for role, body in queries.items():
        person = a_person(for_all.service, operator_role=role.partition("-")[0])
        tokens[role] = str(person.post("/me/operator-token", **body).json["access_token"])
    return tokens


def path_of(endpoint: Endpoint) -> str:
    return VARIABLE.sub(lambda found: NOBODYS[found[1] or ""], endpoint.path)


def existing_path(endpoint: Endpoint, service: Service) -> str:
    """The path with an account that there is; everything else is nobody's."""
    return path_of(endpoint).replace(NOBODYS["int"], str(service.account_id))


def example_of(endpoint: Endpoint) -> dict[str, Any]:
    body = DOCUMENT["paths"][endpoint.url_template][endpoint.method.lower()]["requestBody"]
    examples = body["content"]["application/json"]["examples"]
    return dict(examples["options" if "options" in examples else "required"]["value"])


def sums(service: Service) -> dict[str, str | None]:
    """Of what an operator can change."""
    return table_sums(service.engine, "lease", "operator_key")


@marks(WITH_SCOPE)
def test_a_customers_token_opens_nothing(for_all: OperatorClient, endpoint: Endpoint) -> None:
    before = sums(for_all.service)
    response = for_all.service.client.open(
        PREFIX + path_of(endpoint), method=endpoint.method, headers={"Authorization": f"Bearer {for_all.service.token}"}
    )
    assert (response.status_code, response.json["code"]) == (401, "invalid_token")
    assert sums(for_all.service) == before


def by_table(routes: list[Route]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("route", [pytest.param(each, id=each.name) for each in routes])


@by_table(NEEDING_SCOPE)
def test_the_scope_is_needed_and_is_enough(
    without: dict[str, OperatorClient], with_one: dict[str, OperatorClient], route: Route
) -> None:
    path, (scope,) = path_of(operation_of(route, OPERATORS)), route.scopes
    service = without[scope].service
    before = sums(service)
    refused = without[scope].call(route.method, path, json={})
    refusal = refused.status_code, refused.json["code"], refused.json.get("scope")
    assert refusal == (403, "insufficient_scope", scope)
    assert sums(service) == before
    allowed = with_one[scope].call(route.method, path, json={})
    assert allowed.status_code in (200, 400, 404, 409, 415), allowed.text


@by_table(NEEDING_SCOPE)
def test_a_role_can_do_only_what_it_allows(for_all: OperatorClient, in_roles: dict[str, str], route: Route) -> None:
    path = path_of(operation_of(route, OPERATORS))
    for role, token in in_roles.items():
        response = for_all.call(route.method, path, {"Authorization": f"Bearer {token}"}, json={})
        is_refused = (response.status_code, response.json.get("code")) == (403, "insufficient_scope")
        assert is_refused == route.roles.isdisjoint({role, role.partition("-")[0]}), (role, response.text)


@pytest.mark.parametrize("endpoint", [pytest.param(each, id=each.path) for each in WITH_SCOPE if each.method == "GET"])
def test_what_is_only_read_changes_nothing(for_all: OperatorClient, endpoint: Endpoint) -> None:
    before = sums(for_all.service)
    assert for_all.get(existing_path(endpoint, for_all.service)).status_code in (200, 404)
    assert sums(for_all.service) == before


@marks([each for each in WITH_SCOPE if "<" in each.path])
def test_an_unknown_object_is_not_found(for_all: OperatorClient, endpoint: Endpoint) -> None:
    before = sums(for_all.service)
    more = {"json": example_of(endpoint)} if endpoint.body is not None else {}
    response = for_all.call(endpoint.method, path_of(endpoint), **more)
    assert (response.status_code, response.json["code"]) == (404, "not_found"), response.text
    assert sums(for_all.service) == before


@marks([each for each in WITH_SCOPE if "<int:" in each.path])
def test_ids_of_any_size_and_sandboxes_are_not_found(for_all: OperatorClient, endpoint: Endpoint) -> None:
    sandbox = for_all.service.in_sandbox()
    more = {"json": example_of(endpoint)} if endpoint.body is not None else {}
    for identity in ("0", str(2**63), "9" * 40, str(sandbox.account_id), "-1", "x"):
        path = path_of(endpoint).replace(NOBODYS["int"], identity)
        response = for_all.call(endpoint.method, path, **more)
        assert response.status_code == 404, (identity, response.text)


@marks(WITH_BODY)
def test_bad_bodies_are_refused_and_leave_nothing(for_all: OperatorClient, endpoint: Endpoint) -> None:
    path, example = existing_path(endpoint, for_all.service), example_of(endpoint)
    before = sums(for_all.service)
    for body in BODIES:
        response = for_all.call(endpoint.method, path, data=body, content_type="application/json")
        assert response.status_code in (400, 404), (body, response.text)
    for value in WRONG:
        wrong = {**dict.fromkeys(example, value), "no_such_field": 1}
        response = for_all.call(endpoint.method, path, json=wrong)
        assert response.status_code == 400, (value, response.text)
        assert response.json["code"] in ("validation_failed", "invalid_json")
    assert sums(for_all.service) == before


@marks(WITH_BODY)
def test_no_value_of_a_field_causes_an_internal_error(for_all: OperatorClient, endpoint: Endpoint) -> None:
    """Of an object that there is not, so that nothing is changed whatever is accepted."""
    path, example = path_of(endpoint), example_of(endpoint)
    if "<" not in endpoint.path:
        example |= {"account_id": int(NOBODYS["int"])} if "account_id" in example else {}
    for name in example:
        for value in WRONG:
            response = for_all.call(endpoint.method, path, json={**example, name: value})
            assert response.status_code < 500, (name, value, response.text)


@marks(WITH_QUERY)
def test_no_value_of_a_parameter_causes_an_internal_error(for_all: OperatorClient, endpoint: Endpoint) -> None:
    assert endpoint.query is not None
    path = existing_path(endpoint, for_all.service)
    for name in [*endpoint.query().load_fields, "no_such_parameter"]:
        for value in ("", "x", "-1", "0", "9" * 30, "%00", "%f0%9f%98%80", "a" * 3000, "MA", "WyJ4IiwieSJd"):
            response = for_all.call(endpoint.method, f"{path}?{name}={value}")
            assert response.status_code in (200, 400, 404, 415), (name, value, response.text)
            if name == "no_such_parameter":
                assert response.status_code in (400, 404)
