"""The OpenAPI document is true: whatever follows from it works, and nothing else does."""

import re
from typing import Any

import pytest
from sqlalchemy import Engine

from api.endpoint import ENDPOINTS, PREFIX
from api.openapi.document import document
from tests.contract.explore import Exploration, books, explore

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def explored(engine: Engine) -> Exploration:
    """The short form; `make schemathesis` goes through the edges of every schema too, and through more of all."""
    return explore(engine, examples=5, phases=("examples", "fuzzing", "stateful"))


def test_it_works(explored: Exploration) -> None:
    labels = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", f"{each.method} {PREFIX}{each.path}") for each in ENDPOINTS}
    assert {label for label, _ in explored.answered} == labels
    assert explored.total > 3 * len(labels)


def test_the_service_does_what_its_document_says(explored: Exploration) -> None:
    assert explored.findings == {}, "\n\n".join(map(str, explored.findings.items()))


def test_the_books_are_clean_afterwards(explored: Exploration, engine: Engine) -> None:
    assert explored.total
    assert books(engine) == []


def test_links_refer_to_operations_and_fields_that_exist() -> None:
    made = document()
    by_id = {
        operation["operationId"]: (path, operation)
        for path, methods in made["paths"].items()
        for operation in methods.values()
    }
    found = [
        (name, link)
        for _, operation in by_id.values()
        for name, link in operation["responses"]["200"].get("links", {}).items()
    ]
    assert len(found) > 20
    for name, link in found:
        path, operation = by_id[link["operationId"]]
        assert name in (link["operationId"], "next_page")
        for parameter, where in link["parameters"].items():
            kind, _, parameter_name = parameter.partition(".")
            assert where.startswith(("$response.body#/", "$request.path."))
            assert f"{{{parameter_name}}}" in path if kind == "path" else cursor_of(operation), (name, parameter)


def cursor_of(operation: Any) -> bool:
    return any(parameter.get("name") == "cursor" for parameter in operation["parameters"])
