"""The errors of a wrong request: a code from the list, and what to do."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError

import api
import api.resources  # declares the endpoints
from api.accept.schemas import SingleSend
from api.endpoint import ENDPOINTS
from api.problems import FIELD_CODES
from api.resources.auth.schemas import Credentials, RevokeToken
from api.resources.messages.schemas import HistoryPaging
from api.schemas.errors import errors_of

SINGLE = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi"}
SCHEMAS = sorted(
    {schema for each in ENDPOINTS for schema in (each.body, each.query) if schema} | {Credentials, RevokeToken},
    key=lambda schema: schema.__name__,
)
CODED = {"required", "null", "invalid", "invalid_uuid", "too_large"}
"""The errors that Marshmallow itself raises for a value of the wrong kind."""
RAW = re.compile(r"Not a valid|Missing data|may not be null|Must be greater|Length must|Invalid|Unknown|too large")
"""The library's own messages, which say what is wrong and not what to do."""
WRONG: list[Any] = [None, True, 1, 0, -1, 2**62, 1.5, "", "x", "x" * 300, [], ["x"], {}, {"a": 1}, "2026-01-01"]


def errors(schema: Schema, values: dict[str, Any]) -> list[dict[str, str]]:
    try:
        schema.load(values)
    except ValidationError as error:
        return errors_of(schema, error)
    return []


def test_it_works() -> None:
    assert errors(SingleSend(), SINGLE) == []
    assert errors(SingleSend(), {**SINGLE, "phone": "+254 711 000000"}) == [
        {
            "pointer": "/phone",
            "code": "invalid_phone",
            "detail": errors(HistoryPaging(), {"phone": "+254711000000"})[0]["detail"],
            "suggestion": "254711000000",
        }
    ]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_error_explains_what_to_do(schema: type[Schema]) -> None:
    made, found = schema(), 0
    for name in made.load_fields:
        for value in WRONG:
            for error in errors(made, {name: value}):
                found += error["pointer"] == f"/{name}"
                assert error["code"] in FIELD_CODES
                assert not RAW.search(error["detail"]), (name, value, error)
                assert error["detail"].endswith((".", "?", "`?")), (name, value, error)
    assert found


@pytest.mark.parametrize("schema", SCHEMAS)
def test_errors_of_fields_have_codes_and_no_texts_of_the_library(schema: type[Schema]) -> None:
    for name, field in schema().load_fields.items():
        kinds = CODED & field.error_messages.keys()
        assert {"required", "null"} <= kinds
        assert all(set(field.error_messages[kind]) == {"code", "detail"} for kind in kinds), name


def test_every_code_that_is_used_is_explained_and_the_other_way_round() -> None:
    """By the texts that stand where a code does: in `fail(…)`, `coded(…)` and `"code": …`."""
    used = {"invalid_phone", "duplicate", "suppressed"}
    for path in sorted(Path(api.__file__).parent.rglob("*.py")):
        if path.name in ("examples.py", "problems.py", "bottleneck.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("fail", "coded"):
                used |= {part.value for part in node.args[:1] if isinstance(part, ast.Constant)}
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                used |= {
                    str(value.value)
                    for key, value in pairs
                    if isinstance(key, ast.Constant) and key.value == "code" and isinstance(value, ast.Constant)
                }
    segments = (Path(api.__file__).parent.parent / "shared" / "sms" / "segments.py").read_text()
    used |= set(re.findall(r'"((?:message|invalid)_[a-z_]+)"', segments)) | {"unknown_field"}
    assert used == set(FIELD_CODES)


@given(
    st.dictionaries(
        st.sampled_from(sorted({*SingleSend.independent, "metadata"})),
        st.sampled_from([*WRONG, *SINGLE.values(), "transliterate", {"name": "Ann"}, {"name": 1}, 30, 31, 2.0]),
    )
)
def test_independent_fields_load_as_marshmallow_loads_them(values: dict[str, Any]) -> None:
    for given_values in (values, {**SINGLE, **values}):
        expected, wrong = None, []
        try:
            expected = Schema.load(SingleSend(), given_values)
        except ValidationError as error:
            wrong = errors_of(SingleSend(), error)
        assert errors(SingleSend(), given_values) == wrong
        if expected is not None:
            assert SingleSend().load(given_values) == expected
