"""Links of the OpenAPI document: which operations go on with what an answer holds.

They follow from names. An answer that holds `send_id` leads to every operation whose path takes a `send_id`, a page
leads to those that take what its first entry holds, and to the next page.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from marshmallow import Schema, fields

from api.endpoint import Endpoint
from api.openapi.operation_ids import operation_id

VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")


def links_of(operation: Endpoint, operations: Sequence[Endpoint]) -> dict[str, Any]:
    """The links of an operation's answer, by name."""
    answer = operation.answers()
    known = {name: f"$request.path.{name}" for name in VARIABLE.findall(operation.path)}
    known |= dict(_held(answer))
    links = {
        operation_id(other): {
            "operationId": operation_id(other),
            "parameters": {f"path.{name}": known[name] for name in VARIABLE.findall(other.path)},
        }
        for other in operations
        if other is not operation and _leads_on(operation, other, known)
    }
    if operation.query is not None and "cursor" in operation.query().fields and "next_cursor" in answer.fields:
        parameters = {f"path.{name}": f"$request.path.{name}" for name in VARIABLE.findall(operation.path)}
        parameters["query.cursor"] = "$response.body#/next_cursor"
        links["next_page"] = {"operationId": operation_id(operation), "parameters": parameters}
    return links


def _leads_on(operation: Endpoint, other: Endpoint, known: dict[str, str]) -> bool:
    """Whether all that the other's path takes is known here, and some of it new or of the same object."""
    taken = VARIABLE.findall(other.path)
    return bool(taken) and set(taken) <= known.keys() and operation.method != "DELETE"


def _held(answer: Schema) -> Iterator[tuple[str, str]]:
    """What an answer holds that could be in a path, and where: of a page, what its first entry holds."""
    data = answer.fields.get("data")
    if isinstance(data, fields.List) and isinstance(data.inner, fields.Nested):
        for name in data.inner.schema.fields:
            yield name, f"$response.body#/data/0/{name}"
    for name in answer.fields:
        yield name, f"$response.body#/{name}"
