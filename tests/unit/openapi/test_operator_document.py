"""The OpenAPI document of the operator API says what the application does."""

from typing import Any

import pytest
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.problems import CATALOGUE
from shared.accounts.operator_keys import OPERATOR_SCOPES
from tests.unit.openapi.test_openapi import app as app
from tests.unit.openapi.test_openapi import operations


@pytest.fixture(scope="module")
def document(app: Flask) -> dict[str, Any]:
    return dict(app.test_client().get("/operator/openapi.json").json)


def test_it_works(document: dict[str, Any]) -> None:
    assert document["info"]["title"] == "Bulk SMS: operator API"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


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
