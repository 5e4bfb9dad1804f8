"""A Postman collection (format 2.1) of the OpenAPI document: a folder each tag, a request each operation."""

import json
from typing import Any

FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
VARIABLES = {"base_url": "http://127.0.0.1:8000", "api_key": "", "api_secret": "", "token": ""}
KEEP_TOKEN = [
    "if (pm.response.code === 200) {",
    '    pm.collectionVariables.set("token", pm.response.json().access_token);',
    "}",
]
"""After a token exchange the other requests have the token."""


def collection(described: dict[str, Any]) -> dict[str, Any]:
    """The collection. Fill in `api_key` and `api_secret`, run the token request, then any other."""
    folders: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in described["tags"]}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            folders.setdefault(operation["tags"][0], []).append(_item(method.upper(), path, operation))
    about = {tag["name"]: tag.get("description", "") for tag in described["tags"]}
    return {
        "info": {
            "name": described["info"]["title"],
            "description": described["info"]["description"],
            "schema": FORMAT,
        },
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "variable": [{"key": name, "value": value} for name, value in VARIABLES.items()],
        "item": [
            {"name": name, "description": about.get(name, ""), "item": items}
            for name, items in folders.items()
            if items
        ],
    }


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
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        example = _body(path, content["application/json"])
        request["body"] = {
            "mode": "raw",
            "raw": json.dumps(example, indent=2, ensure_ascii=False),
            "options": {"raw": {"language": "json"}},
        }
    made: dict[str, Any] = {"name": operation["summary"].rstrip("."), "request": request, "response": []}
    if path.endswith("/auth/token"):
        made["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": KEEP_TOKEN}}]
    return made


def _headers(operation: dict[str, Any]) -> list[dict[str, Any]]:
    keyed = any(each.get("$ref", "").endswith("/Idempotency-Key") for each in operation["parameters"])
    made = [{"key": "Idempotency-Key", "value": "{{$guid}}"}] if keyed else []
    kinds = list(operation.get("requestBody", {}).get("content", {}))
    return [{"key": "Content-Type", "value": kinds[0]}, *made] if kinds else made


def _url(path: str, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    segments = [f":{part[1:-1]}" if part.startswith("{") else part for part in path.strip("/").split("/")]
    return {
        "raw": "{{base_url}}/" + "/".join(segments),
        "host": ["{{base_url}}"],
        "path": segments,
        "variable": [_parameter(each) for each in parameters if each["in"] == "path"],
        "query": [{**_parameter(each), "disabled": True} for each in parameters if each["in"] == "query"],
    }


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    example = parameter.get("example", "")
    value = example if isinstance(example, str) else json.dumps(example)
    return {"key": parameter["name"], "value": value, "description": parameter.get("description", "")}


def _body(path: str, media: dict[str, Any]) -> Any:
    if path.endswith("/auth/token"):
        return {"api_key": "{{api_key}}", "api_secret": "{{api_secret}}"}
    examples = [each["value"] for each in media.get("examples", {}).values() if "value" in each]
    return examples[0] if examples else media.get("example", {})
