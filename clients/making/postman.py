"""A Postman collection (format 2.1) of the OpenAPI document: every operation once, in an order in which all succeed."""

import json
from typing import Any

from clients.making.walkthrough import ALSO_GOOD, CAPTURED, CAPTURED_OF, CHANGED_BODIES, FOLDERS, OF_TEST_KEY

FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
VARIABLES = {"base_url": "http://127.0.0.1:8000", "api_key": "", "api_secret": "", "token": ""}
ABOUT = """

Fill in `api_key` and `api_secret` of a test key with every scope, and run the collection from its first request to its
last: it works in your sandbox, and leaves little behind. People belong to the live account: with a test key, requests
about people and signing in are refused."""
DATES = """
const day = 24 * 60 * 60 * 1000;
pm.collectionVariables.set("tomorrow", new Date(Date.now() + day).toISOString());
pm.collectionVariables.set("yesterday", new Date(Date.now() - day).toISOString());
"""


def collection(described: dict[str, Any]) -> dict[str, Any]:
    """The collection. Fill in `api_key` and `api_secret`, and run it."""
    items = {
        operation["operationId"]: _item(method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    return {
        "info": {
            "name": described["info"]["title"],
            "description": described["info"]["description"] + ABOUT,
            "schema": FORMAT,
        },
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "event": [_script("prerequest", DATES)],
        "variable": [{"key": name, "value": value} for name, value in VARIABLES.items()],
        "item": [{"name": name, "item": [items[each] for each in ids]} for name, ids in FOLDERS.items()],
    }


def _script(listen: str, code: str) -> dict[str, Any]:
    return {"listen": listen, "script": {"type": "text/javascript", "exec": code.strip().splitlines()}}


def _test(operation_id: str) -> str:
    """Checks that the request succeeded, and stores what later requests need."""
    good = sorted({200, *ALSO_GOOD.get(operation_id, ()), *OF_TEST_KEY.get(operation_id, ())})
    captured = CAPTURED | CAPTURED_OF.get(operation_id, {})
    return f"""
pm.test("It succeeds", () => pm.expect(pm.response.code).to.be.oneOf({json.dumps(good)}));
if (pm.response.code === 200 && pm.response.headers.get("Content-Type").includes("json")) {{
    const answer = pm.response.json();
    for (const [member, variable] of Object.entries({json.dumps(captured)})) {{
        if (answer[member]) pm.collectionVariables.set(variable, answer[member]);
    }}
}}
"""


def _item(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    parameters = [each for each in operation["parameters"] if "$ref" not in each]
    request: dict[str, Any] = {
        "method": method,
        "header": _headers(operation),
        "url": _url(path, parameters),
        "description": operation["description"],
    }
    if not operation["security"]:
        request["auth"] = {"type": "noauth"}
    elif "session" in operation["security"][0]:
        session = {"key": "token", "value": "{{session_token}}", "type": "string"}
        request["auth"] = {"type": "bearer", "bearer": [session]}
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        example = _body(operation["operationId"], content["application/json"])
        request["body"] = {
            "mode": "raw",
            "raw": json.dumps(example, indent=2, ensure_ascii=False),
            "options": {"raw": {"language": "json"}},
        }
    elif "text/csv" in content:
        request["body"] = {"mode": "raw", "raw": content["text/csv"]["example"]}
    return {
        "name": operation["summary"].rstrip("."),
        "event": [_script("test", _test(operation["operationId"]))],
        "request": request,
        "response": [],
    }


def _headers(operation: dict[str, Any]) -> list[dict[str, Any]]:
    keyed = any(each.get("$ref", "").endswith("/Idempotency-Key") for each in operation["parameters"])
    made = [{"key": "Idempotency-Key", "value": "{{$guid}}"}] if keyed else []
    content = operation.get("requestBody", {}).get("content", {})
    kinds = [kind for kind in content if kind != "multipart/form-data"]
    return [{"key": "Content-Type", "value": kinds[0]}, *made] if kinds else made


def _url(path: str, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    segments = [f":{part[1:-1]}" if part.startswith("{") else part for part in path.strip("/").split("/")]
    return {
        "raw": "{{base_url}}/" + "/".join(segments),
        "host": ["{{base_url}}"],
        "path": segments,
        "variable": [_path_variable(each) for each in parameters if each["in"] == "path"],
        "query": [{**_parameter(each), "disabled": True} for each in parameters if each["in"] == "query"],
    }


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    example = parameter.get("example", "")
    value = example if isinstance(example, str) else json.dumps(example)
    return {"key": parameter["name"], "value": value, "description": parameter.get("description", "")}


def _path_variable(parameter: dict[str, Any]) -> dict[str, Any]:
    made = set(CAPTURED.values()) | {name for each in CAPTURED_OF.values() for name in each.values()}
    name = parameter["name"]
    return _parameter(parameter) | ({"value": f"{{{{{name}}}}}"} if name in made else {})


def _body(operation_id: str, media: dict[str, Any]) -> Any:
    if operation_id == "create_token":
        return {"api_key": "{{api_key}}", "api_secret": "{{api_secret}}"}
    examples = [each["value"] for each in media.get("examples", {}).values() if "value" in each]
    example = examples[0] if examples else media.get("example", {})
    return {**example, **CHANGED_BODIES.get(operation_id, {})}
