"""The types and the operations of the TypeScript client, of the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

HEAD = "// Generated from the OpenAPI document by `make clients`. Do not edit.\n"
PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}


def operations_js(described: dict[str, Any]) -> str:
    """What the client needs to know of each operation when it runs."""
    lines = [
        f"  {_camel(operation['operationId'])}: "
        + json.dumps({"method": method, "path": path, "keyed": _keyed(operation), "type": _media(operation)})
        + ","
        for method, path, operation in _operations(described)
    ]
    return HEAD + "export const OPERATIONS = {\n" + "\n".join(lines) + "\n};\n"


def schema_d_ts(described: dict[str, Any]) -> str:
    """The types of requests and answers, and of a function for each operation."""
    schemas = [
        f"{_comment(schema.get('description'), '')}export interface {name} {_object(schema, '')}\n"
        for name, schema in described["components"]["schemas"].items()
    ]
    functions = [_function(operation) for _, _, operation in _operations(described)]
    return HEAD + "\n" + "\n".join(schemas) + "\nexport interface Operations {\n" + "\n".join(functions) + "\n}\n"


def _operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if "application/json" not in operation["responses"]["200"]["content"]:
                continue  # a file, for which the runtime has no type
            yield method.upper(), path, operation


def _function(operation: dict[str, Any]) -> str:
    members, optional = [], True
    for place in ("path", "query"):
        named = [each for each in operation["parameters"] if each.get("in") == place]
        if named:
            fields = "; ".join(
                f"{each['name']}{'' if place == 'path' else '?'}: {_type(each['schema'])}" for each in named
            )
            members.append(f"{place}{'' if place == 'path' else '?'}: {{ {fields} }}")
            optional = optional and place == "query"
    if "requestBody" in operation:
        required = operation["requestBody"].get("required", False)
        members.append(f"body{'' if required else '?'}: {_body(operation)}")
        optional = optional and not required
    if _keyed(operation):
        members.append("key?: string")
    members.append("signal?: AbortSignal")
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    request = f"request{'?' if optional else ''}: {{ {'; '.join(members)} }}"
    comment = _comment(operation["summary"], "  ")
    return f"{comment}  {_camel(operation['operationId'])}({request}): Promise<{_type(answer)}>;"


def _body(operation: dict[str, Any]) -> str:
    content = operation["requestBody"]["content"]
    return _type(content["application/json"]["schema"]) if "application/json" in content else "string"


def _type(schema: dict[str, Any], indent: str = "") -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_type(each, indent) for each in schema[union]))
    if "allOf" in schema:
        return " & ".join(_type(each, indent) for each in schema["allOf"])
    kinds = schema.get("type", "object" if "properties" in schema else [])
    return (
        " | ".join(_one(schema, kind, indent) for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "unknown"
    )


def _one(schema: dict[str, Any], kind: str, indent: str) -> str:
    if kind == "array":
        inner = _type(schema.get("items", {}), indent)
        return f"Array<{inner}>"
    if kind == "object" and schema.get("properties"):
        return _object(schema, indent)
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"Record<string, {_type(schema['additionalProperties'], indent)}>"
    return PRIMITIVES[kind]


def _object(schema: dict[str, Any], indent: str) -> str:
    deeper, required = indent + "  ", schema.get("required", [])
    lines = [
        f"{_comment(said.get('description'), deeper)}{deeper}{name}{'' if name in required else '?'}:"
        f" {_type(said, deeper)};"
        for name, said in schema.get("properties", {}).items()
    ]
    return "{\n" + "\n".join(lines) + f"\n{indent}}}"


def _comment(said: str | None, indent: str) -> str:
    return f"{indent}/** {' '.join(said.replace('*/', '* /').split())} */\n" if said else ""


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def _keyed(operation: dict[str, Any]) -> bool:
    return any(each.get("$ref", "").endswith("/Idempotency-Key") for each in operation["parameters"])


def _media(operation: dict[str, Any]) -> str | None:
    content = operation.get("requestBody", {}).get("content", {})
    kinds = [kind for kind in content if kind != "multipart/form-data"]
    return None if not kinds else "application/json" if "application/json" in kinds else kinds[0]
