"""The OpenAPI document says what the application does, and the page that shows it needs nothing from elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from openapi_schema_validator import OAS31Validator

import api
from api.accept.schemas import BulkSend, GroupSend, SingleSend
from api.problems import CATALOGUE
from api.resources.auth.schemas import Credentials
from shared.lifecycle import EventType
from tests.unit.project.test_guards import app as app

STATIC = Path(api.__file__).parent / "static"
FILES = [
    "LICENSE",
    "reference.js",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.css",
]
PAGES = ["/reference", "/operator/reference"]
OF_NO_OPERATION = {"method_not_allowed", "bad_request", "bad_gateway"}
"""Errors of requests that meet no operation, or a proxy before the API; the document's description names them."""


@pytest.fixture(scope="module")
def document(app: Flask) -> dict[str, Any]:
    response = app.test_client().get("/openapi.json")
    assert response.status_code == 200
    return dict(response.get_json())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def violations(document: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    """What is wrong with a value, by a schema of the document."""
    whole = {**schema, "components": document["components"]}
    validator = OAS31Validator(whole, format_checker=OAS31Validator.FORMAT_CHECKER)
    return [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(value)]


@pytest.mark.parametrize(("url", "prefix"), [("/openapi.json", "/api/v1"), ("/operator/openapi.json", "/operator/v1")])
def test_every_route_is_documented_and_nothing_else(app: Flask, url: str, prefix: str) -> None:
    routes = {
        re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", f"{method} {rule.rule}")
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith(prefix)
    }
    assert {name for name, _ in operations(app.test_client().get(url).json)} == routes


def test_every_documented_error_is_in_the_catalogue_and_the_other_way_round(document: dict[str, Any]) -> None:
    documented = set()
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            if status == "200":
                continue
            codes = response["content"]["application/problem+json"]["examples"]
            assert {str(CATALOGUE[code].status) for code in codes} == {status}, name
            assert re.findall(r"`(\w+)`", response["description"]) == list(codes), name
            documented |= set(codes)
    assert documented == set(CATALOGUE) - OF_NO_OPERATION
    assert all(f"`{code}`" in document["info"]["description"] for code in OF_NO_OPERATION)


@pytest.mark.parametrize(
    ("operation", "schema", "known"),
    [
        ("POST /api/v1/auth/token", "Credentials", {"api_key": "string", "api_secret": "string"}),
        ("POST /api/v1/sms/send", "SingleSend", {"sender_id": "string", "phone": "string", "message": "string"}),
        ("POST /api/v1/sms/send-bulk", "BulkSend", {"sender_id": "string", "phones": "array", "message": "string"}),
        (
            "POST /api/v1/sms/send-group",
            "GroupSend",
            {"sender_id": "string", "group_id": "string", "message": "string"},
        ),
    ],
)
def test_the_original_bodies_are_kept(
    document: dict[str, Any], operation: str, schema: str, known: dict[str, str]
) -> None:
    body = dict(operations(document))[operation]["requestBody"]
    assert body["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{schema}"}
    made = document["components"]["schemas"][schema]
    assert sorted(made["required"]) == sorted(known)
    assert {name: made["properties"][name]["type"] for name in known} == known
    if "message" in known:
        assert made["properties"]["message"]["maxLength"] == 1600


@pytest.mark.parametrize("operation", ["GET /api/v1/balance", "GET /api/v1/groups"])
def test_the_original_reads_need_no_parameter(document: dict[str, Any], operation: str) -> None:
    read = dict(operations(document))[operation]
    assert "requestBody" not in read
    assert not [parameter for parameter in read["parameters"] if parameter.get("required")]


def test_the_original_statuses_are_kept(document: dict[str, Any]) -> None:
    known = dict(operations(document))
    assert {"200", "401"} <= set(known["POST /api/v1/auth/token"]["responses"])
    for name in ("send", "send-bulk", "send-group"):
        assert {"200", "400", "401", "402"} <= set(known[f"POST /api/v1/sms/{name}"]["responses"])


def test_the_recipients_are_strings_and_the_group_is_a_uuid(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    phones = schemas["BulkSend"]["properties"]["phones"]
    kinds = [kind["type"] for kind in phones["items"]["oneOf"]]
    assert (kinds, phones["minItems"], phones["maxItems"]) == (["string", "object"], 1, 100_000)
    assert schemas["GroupSend"]["properties"]["group_id"]["format"] == "uuid"


def test_every_operation_has_a_summary_and_examples_that_fit_its_schemas(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        assert operation["summary"].endswith("."), name
        contents = [response["content"] for response in operation["responses"].values()]
        contents += [operation["requestBody"]["content"]] if "requestBody" in operation else []
        for kind, media in (item for content in contents for item in content.items()):
            examples = [example for example in media.get("examples", {}).values() if "value" in example]
            refs = [
                example["$ref"].rpartition("/")[2]
                for example in media.get("examples", {}).values()
                if "$ref" in example
            ]
            values = [example["value"] for example in examples]
            values += [document["components"]["examples"][ref]["value"] for ref in refs]
            values += [media["example"]] if "example" in media else []
            assert values, f"{name} has no example of {kind}"
            for value in values:
                assert violations(document, media["schema"], value) == [], name


def test_the_examples_of_requests_are_accepted(document: dict[str, Any]) -> None:
    known = dict(operations(document))
    takes = {"auth/token": Credentials, "sms/send": SingleSend, "sms/send-bulk": BulkSend, "sms/send-group": GroupSend}
    for path, schema in takes.items():
        body = known[f"POST /api/v1/{path}"]["requestBody"]["content"]["application/json"]
        for example in body["examples"].values():
            schema().load(example["value"])


def test_every_field_and_parameter_is_explained(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema["properties"].items():
            assert described.get("description"), f"{name}.{field} needs a description"
    for name, operation in operations(document):
        for parameter in operation["parameters"]:
            assert "$ref" in parameter or parameter.get("description"), f"{name}: {parameter['name']}"


def test_times_and_ids_have_their_formats_and_nulls_are_types(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, field_schema in schema["properties"].items():
            assert "nullable" not in field_schema
            if field.endswith(("_at", "_until")) or field in ("at", "eta", "failing_since"):
                assert field_schema["format"] == "date-time", f"{name}.{field}"
            if field in ("send_id", "message_id", "group_id", "batch_id"):
                assert field_schema["format"] == "uuid", f"{name}.{field}"
    send = document["components"]["schemas"]["Send"]["properties"]
    assert send["group_id"]["type"] == send["eta"]["type"] == ["string", "null"]


@pytest.mark.parametrize("path", PAGES)
def test_the_page_loads_nothing_from_elsewhere(app: Flask, path: str) -> None:
    page, script = app.test_client().get(path).text, (STATIC / "reference.js").read_text()
    for text in (page, script):
        assert re.findall(r"https?://|[\"'(]//", text) == []
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    others = {url for url in loaded if not url.startswith(("/reference/", "data:,"))}
    assert others <= {"/openapi.json", "/operator/openapi.json", "/reference"}
    assert all((STATIC / url.removeprefix("/reference/")).is_file() for url in loaded if url.startswith("/reference/"))
    assert "validatorUrl: null" in script
    for style in (page, (STATIC / "swagger-ui.css").read_text()):
        assert "@import" not in style
        assert [url for url in re.findall(r"url\(\s*[\"']?([^\"')]{0,40})", style) if not url.startswith("data:")] == []


@pytest.mark.parametrize("path", PAGES)
def test_the_page_works_with_a_strict_content_security_policy(app: Flask, path: str) -> None:
    page = app.test_client().get(path).text
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<[^>]+\son\w+=|javascript:", page) == []


def test_webhooks_suit_client_generators(document: dict[str, Any]) -> None:
    """Each tag becomes a file, so those of paths and webhooks differ; a body without a name is called as parameters."""
    of_paths = {tag for _, operation in operations(document) for tag in operation["tags"]}
    posts = [methods["post"] for methods in document["webhooks"].values()]
    of_webhooks = {tag for post in posts for tag in post["tags"]}
    assert of_paths.isdisjoint(of_webhooks)
    assert {tag["name"] for tag in document["tags"]} >= of_webhooks
    assert all(set(post["requestBody"]["content"]["application/json"]["schema"]) == {"$ref"} for post in posts)


def test_every_event_is_a_webhook_of_the_document(document: dict[str, Any]) -> None:
    assert set(document["webhooks"]) == {event.value for event in EventType}
    for name, methods in document["webhooks"].items():
        content = methods["post"]["requestBody"]["content"]["application/json"]
        assert violations(document, content["schema"], content["example"]) == []
        assert content["example"]["type"] == name


def test_the_page_is_served(app: Flask) -> None:
    client = app.test_client()
    with client.get("/reference") as response:
        assert (response.status_code, response.mimetype) == (200, "text/html")
    for name in FILES:
        with client.get(f"/reference/{name}") as response:
            assert response.status_code == 200
    assert client.get("/reference/../app.py").status_code == 404
