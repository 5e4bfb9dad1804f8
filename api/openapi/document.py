"""The OpenAPI 3.1 documents of both APIs, generated from the endpoints' contracts and schemas."""

import inspect
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema

from api.endpoint import CUSTOMERS, OPERATORS, Endpoint
from api.openapi import description, operators
from api.openapi.examples import CHANGED, CSV, CSV_BODIES, EVERYWHERE, FILES, HEADERS, PROBLEMS
from api.openapi.links import links_of
from api.openapi.problem import ErrorResponse
from api.openapi.schema_examples import example_of
from api.openapi.webhooks import DATA_SCHEMAS, event_schemas, webhooks
from api.operations import Api
from api.problems import CATALOGUE, Problem
from api.resources.auth.routes import CREDENTIALS, REVOKE_TOKEN
from api.resources.sms.routes import QUOTES
from api.schemas.base import Request
from api.schemas.fields import Timestamp
from shared.settings import IDEMPOTENCY_DAYS

BODIES = {"/auth/token": CREDENTIALS, "/auth/revoke": REVOKE_TOKEN}
CSV_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "format": "binary", "description": "The CSV file."}},
}
VARIABLE_SCHEMAS: dict[str, dict[str, str]] = {
    "": {"type": "string"},
    "int": {"type": "integer"},
    "phone": {"type": "string"},
    "uuid": {"type": "string", "format": "uuid"},
}
"""The schema of a path variable, by its converter."""


def document(api: Api = CUSTOMERS) -> dict[str, Any]:
    """The whole document of an API."""
    texts = operators if api is OPERATORS else description
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title="Bulk SMS: operator API" if api is OPERATORS else "Bulk SMS",
        version="1",
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": texts.DESCRIPTION.strip()},
        servers=[{"url": "/", "description": "This installation"}],
    )
    converter: Any = plugin.converter
    converter.add_attribute_function(_properties)
    _add_components(spec, api)
    for name, purpose in texts.TAGS.items():
        spec.tag({"name": name, "description": purpose})
    for operation in api.operations:
        path = operation.url_template
        spec.path(path=path, operations={operation.method.lower(): _operation(operation, operation.response)})
    generated = _corrected(spec.to_dict(), {name: key[0] for key, name in converter.refs.items()})
    generated["components"]["schemas"] |= (event_schemas() if api is CUSTOMERS else {}) | {"CsvForm": CSV_FORM}
    return generated | ({"webhooks": webhooks()} if api is CUSTOMERS else {})


def _add_components(spec: APISpec, api: Api) -> None:
    token = f"The `access_token` of POST {api.prefix}/auth/token."
    spec.components.security_scheme("bearer", {"type": "http", "scheme": "bearer", "description": token})
    if api is CUSTOMERS:
        session = f"The `session_token` of POST {api.prefix}/sign-in."
        spec.components.security_scheme("session", {"type": "http", "scheme": "bearer", "description": session})
    whose = "this path" if api is OPERATORS else "the account and this path"
    others = "Another operator" if api is OPERATORS else "Another API key of the account"
    spec.components.parameter(
        "Idempotency-Key",
        "header",
        {
            "required": False,
            "description": "Makes the request safe to repeat: with the same key it has no further effect and gets the "
            "first response again. Use an order number of yours, or a UUID. A key belongs to "
            f"{whose}, and is kept for {IDEMPOTENCY_DAYS} days. {others} gets 422.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        },
    )
    for name, (meaning, example) in HEADERS.items():
        spec.components.header(name, {"description": meaning, "schema": {"type": "string"}, "example": example})
    for code, kind in CATALOGUE.items():
        detail, members = PROBLEMS.get(code, (kind.title + ".", {}))
        value = Problem(code, detail, **members).document("/api/v1/sms/send", "req_5b0a8e6f1d2c3b4a")
        spec.components.example(code, {"summary": kind.title, "value": value})
    spec.components.schema("Error", schema=ErrorResponse)
    for schema in DATA_SCHEMAS if api is CUSTOMERS else ():
        spec.components.schema(_name(schema), schema=schema)


def _operation(operation: Endpoint, response: type[Schema]) -> dict[str, Any]:
    summary, _, rest = (inspect.getdoc(operation.function) or "").partition("\n")
    scope = f"Needs the scope `{operation.scope}`." if operation.scope else ""
    described: dict[str, Any] = {
        "operationId": operation.function.__name__,
        "summary": summary.replace("`", ""),
        "description": "\n\n".join(filter(None, (rest.strip(), scope))) or summary,
        "tags": [_tag(operation)],
        "parameters": _parameters(operation),
        "responses": _responses(operation, response),
        "security": _security(operation),
    }
    body = _body(operation)
    if body is not None:
        described["requestBody"] = body
    return described


def _tag(operation: Endpoint) -> str:
    """The first word of the path, `people` for all that is about people or, of the operator API, the theme."""
    if operation.api is OPERATORS:
        return operation.function.__module__.split(".")[2]
    first = operation.path.split("/")[1]
    return "people" if first in description.OF_PEOPLE else first


def _security(operation: Endpoint) -> list[dict[str, list[str]]]:
    if operation.session:
        return [{"session": []}]
    return [] if operation.scope is None else [{"bearer": [operation.scope] if operation.scope else []}]


def _body(operation: Endpoint) -> dict[str, Any] | None:
    if operation.path == "/sms/quote":
        schemas = dict(QUOTES.values())
        by_kind = {kind: {"value": example_of(schema)} for kind, schema in schemas.items()}
        return _json({"anyOf": list(schemas.values())}, by_kind, required=True)
    if operation.path in CSV_BODIES:
        example = {"schema": {"type": "string"}, "example": CSV_BODIES[operation.path]}
        form = {"schema": {"$ref": "#/components/schemas/CsvForm"}, "example": {"file": CSV_BODIES[operation.path]}}
        return {"required": True, "content": {"multipart/form-data": form, "text/csv": example}}
    schema = operation.body() if operation.body is not None else BODIES.get(operation.path)
    if schema is None:
        return None
    required = example_of(schema)
    examples: dict[str, Any] = {"required": {"summary": "Required fields", "value": required}} if required else {}
    if schema is not CREDENTIALS:
        summary = "With options" if operation.body else "Another token"
        examples["options"] = {"summary": summary, "value": example_of(schema, options=True)}
    return _json(schema, examples, required=operation.body is not None)


def _json(schema: Any, examples: dict[str, Any], *, required: bool) -> dict[str, Any]:
    return {"required": required, "content": {"application/json": {"schema": schema, "examples": examples}}}


def _parameters(operation: Endpoint) -> list[Any]:
    parameters: list[Any] = []
    for name, converter in operation.variables.items():
        variables: Any = operators.PATH_VARIABLES if operation.api is OPERATORS else description.PATH_VARIABLES
        meaning, example = variables[name][:2]
        parameter = {"description": meaning, "schema": VARIABLE_SCHEMAS[converter], "example": example}
        parameters.append({"in": "path", "name": name, "required": True, **parameter})
    if operation.query is not None:
        parameters.append({"in": "query", "schema": operation.query})
    if operation.path == "/auth/token":
        for name in ("X-API-Key", "X-API-Secret"):
            instead = "Use both headers instead of a body."
            parameters.append({"in": "header", "name": name, "description": instead, "schema": {"type": "string"}})
    if _has_key(operation):
        parameters.append("Idempotency-Key")
    return parameters


def _has_key(operation: Endpoint) -> bool:
    return operation.method == "POST" and bool(operation.scope)


def _responses(operation: Endpoint, response: type[Schema]) -> dict[str, Any]:
    example = example_of(response()) | CHANGED.get(operation.path, {})
    content: dict[str, Any] = {"application/json": {"schema": response, "example": example}}
    headers = ["Idempotency-Replayed"] if _has_key(operation) else []
    if (operation.method, operation.path) in CSV:
        content["text/csv"] = {"schema": {"type": "string"}, "example": CSV[operation.method, operation.path]}
        headers.append("Content-Disposition")
    if operation.path in FILES:
        files = FILES[operation.path].items()
        content = {kind: {"schema": {"type": "string"}, "example": example} for kind, example in files}
        headers.append("Content-Disposition")
    success = {"description": response.__doc__ or "Done.", "headers": _headers(headers), "content": content}
    links = links_of(operation, operation.api.operations)
    responses: dict[str, Any] = {"200": success | ({"links": links} if links else {})}
    by_status: dict[int, list[str]] = {}
    for code in _errors_of(operation):
        by_status.setdefault(CATALOGUE[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        examples = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
        responses[str(status)] = {
            "description": ", ".join(f"`{code}`" for code in codes),
            "headers": _headers(_headers_of(status, codes)),
            "content": {"application/problem+json": {"schema": "Error", "examples": examples}},
        }
    return responses


def _headers(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*EVERYWHERE, *names)}


def _headers_of(status: int, codes: list[str]) -> list[str]:
    if status == 401:
        return ["WWW-Authenticate"]
    return ["Retry-After"] if status in (429, 503) or "idempotency_in_progress" in codes else []


def _errors_of(operation: Endpoint) -> list[str]:
    codes = list(operation.errors)
    is_operators = operation.api is OPERATORS
    codes += [] if is_operators else [description.PATH_VARIABLES[name][2] for name in operation.variables]
    if operation.body or operation.path in ("/sms/quote", *BODIES):
        codes += ["invalid_json", "validation_failed", "payload_too_large"]
        codes += ["unsupported_media_type"] if operation.path != "/auth/revoke" else []
    if operation.query is not None:
        codes.append("validation_failed")
    if _has_key(operation):
        codes += ["validation_failed", "idempotency_in_progress", "idempotency_key_reused"]
    if "<uuid:" in operation.path or (is_operators and operation.variables):
        codes.append("not_found")
    if is_operators and operation.scope and operation.method != "GET":
        codes.append("state_conflict")
    if operation.scope is not None:
        codes += ["missing_token", "invalid_token", "token_expired", "token_revoked"]
        codes += ["ip_not_allowed", "rate_limited"] if is_operators else []
        codes += [] if is_operators else ["account_suspended", "ip_not_allowed", "rate_limited"]
    if operation.session:
        codes += ["missing_token", "session_ended", "rate_limited"]
    if operation.scope:
        codes.append("insufficient_scope")
    if operation.method != "GET":
        codes.append("gateway_timeout")
    return list(dict.fromkeys([*codes, "internal_error", "unavailable"]))


def _properties(_: Any, field: Any, *, ret: dict[str, Any], **__: Any) -> dict[str, Any]:
    """The JSON Schema keywords of a field that Marshmallow's type does not imply."""
    keywords: dict[str, Any] = {**getattr(field, "json_schema", {})}
    example = ret.pop("example", None)
    would_be_past = isinstance(field, Timestamp) and isinstance(field.parent, Request)
    if example is not None and not would_be_past:  # a request with an example time in the past would be refused
        keywords["examples"] = [example]
    return {key: value for key, value in keywords.items() if key not in field.metadata}


def _corrected(generated: dict[str, Any], classes: dict[str, type[Schema]]) -> dict[str, Any]:
    """The generated document with two corrections: responses may get new fields, and a query has no null."""
    for name, schema in generated["components"]["schemas"].items():
        if classes[name].__doc__:
            schema["description"] = classes[name].__doc__
        if not issubclass(classes[name], Request):
            schema.pop("additionalProperties", None)
    for path in generated["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                schema = parameter.get("schema", {})
                schema.pop("examples", None)  # the reference's request form would fill them in
                if isinstance(schema.get("type"), list):
                    schema["type"] = schema["type"][0]
                    schema.pop("default", None)
    return generated


def _name(schema: Any) -> str:
    kind = schema if isinstance(schema, type) else type(schema)
    assert issubclass(kind, Schema)
    return kind.__name__.removesuffix("Response")
