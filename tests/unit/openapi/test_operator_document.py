"""The OpenAPI document of the operator API says what the application does."""

import json
import re
from typing import Any

import pytest
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.endpoint import OPERATORS
from api.openapi import operators
from api.openapi.document import document as made_document
from api.problems import CATALOGUE
from shared.accounts.operator_keys import OPERATOR_SCOPES
from tests.unit.openapi.test_openapi import app as app
from tests.unit.openapi.test_openapi import operations, violations


@pytest.fixture(scope="module")
def document(app: Flask) -> dict[str, Any]:
    return dict(app.test_client().get("/operator/openapi.json").json)


def test_it_works(document: dict[str, Any]) -> None:
    assert document["info"]["title"] == "Bulk SMS: operator API"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_every_route_is_documented_and_nothing_else(app: Flask, document: dict[str, Any]) -> None:
    routes = {
        re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", f"{method} {rule.rule}")
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/operator/v1")
    }
    assert {name for name, _ in operations(document)} == routes


def test_every_operation_names_its_scope_and_its_errors(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        if name == "POST /operator/v1/auth/token":
            assert operation["security"] == []
            continue
        (scopes,) = operation["security"]
        assert len(scopes["bearer"]) == 1 and scopes["bearer"][0] in OPERATOR_SCOPES, name
        for status, response in operation["responses"].items():
            if status != "200":
                codes = response["content"]["application/problem+json"]["examples"]
                assert {str(CATALOGUE[code].status) for code in codes} == {status}, name


def test_every_operation_has_a_summary_and_examples_that_fit_its_schemas(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        assert operation["summary"].endswith("."), name
        contents = [operation["responses"]["200"]["content"]]
        contents += [operation["requestBody"]["content"]] if "requestBody" in operation else []
        for media in (media for content in contents for media in content.values()):
            values = [example["value"] for example in media.get("examples", {}).values()]
            values += [media["example"]] if "example" in media else []
            for value in values:
                assert violations(document, media["schema"], value) == [], name


def test_the_examples_of_requests_are_accepted(document: dict[str, Any]) -> None:
    for endpoint in OPERATORS.operations:
        if endpoint.body is not None:
            body = document["paths"][endpoint.url_template][endpoint.method.lower()]["requestBody"]
            options = body["content"]["application/json"]["examples"]
            for example in (each["value"] for each in options.values()):
                endpoint.body().load(example)


def test_every_field_and_parameter_is_explained(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema["properties"].items():
            assert described.get("description"), f"{name}.{field} needs a description"
    for name, operation in operations(document):
        for parameter in operation["parameters"]:
            assert "$ref" in parameter or parameter.get("description"), f"{name}: {parameter['name']}"


def test_each_theme_and_each_variable_is_described(document: dict[str, Any]) -> None:
    assert {tag for _, operation in operations(document) for tag in operation["tags"]} == set(operators.TAGS)
    variables = {name for each in OPERATORS.operations for name in re.findall(r"<(?:\w+:)?(\w+)>", each.path)}
    assert variables == set(operators.PATH_VARIABLES)
    assert set(operators.IDS) <= {operation.function.__name__ for operation in OPERATORS.operations}


def test_no_two_names_are_the_same(document: dict[str, Any]) -> None:
    schemas = {name.lower() for name in document["components"]["schemas"]}
    called = [operation["operationId"].replace("_", "").lower() for _, operation in operations(document)]
    assert len(set(called)) == len(called)
    assert schemas.isdisjoint(called)
    assert not [name for name in document["components"]["schemas"] if name[-1].isdigit()]


def test_it_is_the_same_each_time() -> None:
    assert json.dumps(made_document(OPERATORS)) == json.dumps(made_document(OPERATORS))


def test_the_page_is_served(app: Flask) -> None:
    with app.test_client().get("/operator/reference") as response:
        assert (response.status_code, response.mimetype) == (200, "text/html")
        assert 'data-document="/operator/openapi.json"' in response.get_data(as_text=True)
