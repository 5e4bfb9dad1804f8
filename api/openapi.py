"""The OpenAPI 3.1 document, made of the endpoints' contracts and the schemas that check the requests."""

import inspect
import re
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema

from api.endpoint import ENDPOINTS, PREFIX, Endpoint
from api.problems import CATALOGUE
from api.resources.auth import CREDENTIALS, REVOKE_TOKEN
from api.resources.sms import QUOTES
from api.schemas import CanonicalUUID, ErrorAnswer, Moment, Phones

DESCRIPTION = """Send one SMS, a list of them, or one to every contact of a group. A 200 means: stored, paid for, and it
will be sent, or you will be told why not and get your credits back."""
BODIES: dict[str, Any] = {
    "/auth/token": CREDENTIALS,
    "/auth/revoke": REVOKE_TOKEN,
}
SCOPELESS_FAILS = ("missing_token", "invalid_token", "token_expired", "token_revoked", "account_suspended")
ALWAYS_FAILS = ("internal_error", "unavailable")


def document() -> dict[str, Any]:
    """The whole document."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title="Bulk SMS",
        version="1",
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": DESCRIPTION},
        servers=[{"url": "/"}],
    )
    spec.components.security_scheme("bearer", {"type": "http", "scheme": "bearer"})
    assert plugin.converter is not None
    plugin.converter.add_attribute_function(_formats)
    spec.components.schema("Error", schema=ErrorAnswer)
    for operation in ENDPOINTS:
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", PREFIX + operation.path)
        spec.path(path=path, operations={operation.method.lower(): _operation(operation)})
    return spec.to_dict()


def _operation(operation: Endpoint) -> dict[str, Any]:
    summary, _, rest = (inspect.getdoc(operation.function) or "").partition("\n")
    made: dict[str, Any] = {
        "operationId": operation.function.__name__,
        "summary": summary,
        "description": rest.strip() or summary,
        "tags": [operation.path.split("/")[1]],
        "parameters": _parameters(operation),
        "responses": _responses(operation),
    }
    if operation.scope is not None:
        made["security"] = [{"bearer": [operation.scope] if operation.scope else []}]
    body = _body(operation)
    if body is not None:
        made["requestBody"] = body
    return made


def _body(operation: Endpoint) -> dict[str, Any] | None:
    if operation.path == "/sms/quote":
        return _json({"anyOf": [schema for _, schema in QUOTES.values()]}, required=True)
    if operation.takes is not None:
        return _json(operation.takes, required=True)
    if operation.path in BODIES:
        return _json(BODIES[operation.path], required=False)
    return None


def _json(schema: Any, *, required: bool) -> dict[str, Any]:
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def _parameters(operation: Endpoint) -> list[dict[str, Any]]:
    parameters: list[Any] = [
        {
            "in": "path",
            "name": name,
            "required": True,
            "schema": {"type": "string", **({"format": "uuid"} if kind == "uuid:" else {})},
        }
        for kind, name in re.findall(r"<(\w+:)?(\w+)>", operation.path)
    ]
    if operation.query is not None:
        parameters.append({"in": "query", "schema": operation.query})
    if operation.method == "POST" and operation.scope:
        parameters.append(
            {
                "in": "header",
                "name": "Idempotency-Key",
                "required": False,
                "description": "1 to 255 visible ASCII characters; the same request with the same key has one effect.",
                "schema": {"type": "string", "maxLength": 255},
            }
        )
    return parameters


def _responses(operation: Endpoint) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": operation.answers or {"type": "object"}}}
    if operation.path == "/sends/<uuid:send_id>/messages":
        content["text/csv"] = {"schema": {"type": "string"}}
    responses: dict[str, Any] = {"200": {"description": "Done.", "content": content}}
    by_status: dict[int, list[str]] = {}
    for code in _fails(operation):
        by_status.setdefault(CATALOGUE[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = {
            "description": ", ".join(f"`{code}`" for code in codes),
            "content": {"application/problem+json": {"schema": "Error"}},
        }
    return responses


def _fails(operation: Endpoint) -> list[str]:
    codes = [*operation.fails, *ALWAYS_FAILS]
    if operation.scope is not None:
        codes += [*SCOPELESS_FAILS, "rate_limited"]
    if operation.scope:
        codes.append("insufficient_scope")
    if operation.method == "POST":
        codes += ["payload_too_large", "unsupported_media_type", "idempotency_in_progress", "idempotency_key_reused"]
    return list(dict.fromkeys(codes))


def _formats(field: Any, **_: Any) -> dict[str, Any]:
    if isinstance(field, Moment):
        return {"type": "string", "format": "date-time"}
    if isinstance(field, CanonicalUUID):
        return {"type": "string", "format": "uuid"}
    if isinstance(field, Phones):
        return {"type": "array", "items": {"type": "string"}}
    return {}


def _name(schema: Any) -> str:
    made = schema if isinstance(schema, type) else type(schema)
    assert issubclass(made, Schema)
    return made.__name__.removesuffix("Answer")
