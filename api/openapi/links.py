"""Links of the OpenAPI document: which operations can use the values in a response.

They follow from names. A response with `send_id` links to every operation with a `send_id` in its path. A page links
to the operations that take a field of its first entry, and to the next page.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from marshmallow import Schema, fields

from api.endpoint import Endpoint


def links_of(operation: Endpoint, operations: Sequence[Endpoint]) -> dict[str, Any]:
    """The links of an operation's response, by name."""
    response = operation.response()
    values = {name: f"$request.path.{name}" for name in operation.variables}
    values |= dict(_values_in(response))
    links = {
        other.function.__name__: {
            "operationId": other.function.__name__,
            "parameters": {f"path.{name}": values[name] for name in other.variables},
        }
        for other in operations
        if other is not operation and _has_link(operation, other, values)
    }
    if operation.query is not None and "cursor" in operation.query().fields and "next_cursor" in response.fields:
        parameters = {f"path.{name}": f"$request.path.{name}" for name in operation.variables}
        parameters["query.cursor"] = "$response.body#/next_cursor"
        links["next_page"] = {"operationId": operation.function.__name__, "parameters": parameters}
    return links


def _has_link(operation: Endpoint, other: Endpoint, values: dict[str, str]) -> bool:
    """Whether all path variables of the other operation are known. Nothing follows a DELETE."""
    variables = other.variables.keys()
    return bool(variables) and variables <= values.keys() and operation.method != "DELETE"


def _values_in(response: Schema) -> Iterator[tuple[str, str]]:
    """The fields of a response and, for a page, of its first entry, each with its runtime expression."""
    data = response.fields.get("data")
    if isinstance(data, fields.List) and isinstance(data.inner, fields.Nested):
        for name in data.inner.schema.fields:
            yield name, f"$response.body#/data/0/{name}"
    for name in response.fields:
        yield name, f"$response.body#/{name}"
