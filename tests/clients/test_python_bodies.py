"""The bodies that the Python client sends."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from bulksms_client import ApiError
from bulksms_client.transport import Transport

from api.http.json_body import parse_object
from api.problems import Problem
from tests.clients.scripted import Scripted, problem

LARGE = 32 * 1024 * 1024
"""More bytes than a connection holds."""


def test_a_body_is_utf_8_without_spaces(service: Scripted, transport: Transport) -> None:
    body = {"message": "Привет 👋", "phones": ["254711000001", "254711000002"]}
    service.replies = [(200, {}, {})]
    transport.request("POST", "/sms/send-bulk", body)
    ((_, _, _, sent),) = service.requests
    assert sent == '{"message":"Привет 👋","phones":["254711000001","254711000002"]}'.encode()


@pytest.mark.parametrize("text", ["\ud83d", "x \udc4b y"])
def test_half_a_surrogate_pair_gets_the_reason_of_the_service(
    service: Scripted, transport: Transport, text: str
) -> None:
    service.replies = [(400, {"code": "invalid_json"}, {})]
    with pytest.raises(ApiError, match="invalid_json"):
        transport.request("POST", "/sms/send", {"message": text})
    ((_, _, _, sent),) = service.requests
    assert json.loads(sent) == {"message": text}
    with pytest.raises(Problem, match="half a surrogate pair"):
        parse_object(sent)


@pytest.mark.parametrize(
    "send",
    [
        lambda transport: transport.request("POST", "/sms/send-bulk", {"reference": "x" * LARGE}),
        lambda transport: transport.upload("/groups/g/import", BytesIO(bytes(LARGE)), LARGE),
    ],
    ids=["json", "file"],
)
def test_a_refusal_that_comes_while_the_body_is_sent_is_read(
    service: Scripted, transport: Transport, send: Callable[[Transport], Any]
) -> None:
    transport._tokens.token()
    service.reads, service.replies = False, [(413, problem("payload_too_large"), {}), (200, {"a": 1}, {})]
    with pytest.raises(ApiError, match="413 payload_too_large"):
        send(transport)
    assert len(service.requests) == 1
    assert transport.request("GET", "/limits") == {"a": 1}
