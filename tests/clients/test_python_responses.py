"""What the Python client takes for a success: no response of something that is before the API."""

from collections.abc import Callable
from typing import Any

import pytest
from bulksms_client import ApiError, Client, Unreachable
from bulksms_client.transport import Transport

from tests.clients.scripted import BUSY, FOREIGN, Foreign, Scripted

CHUNKED = {"Transfer-Encoding": "chunked", "Content-Length": ""}
REQUESTS: dict[str, Callable[[Transport], Any]] = {
    "send": lambda transport: transport.request("POST", "/sms/send", {}),
    "delete": lambda transport: transport.request("DELETE", "/groups/g"),
    "file": lambda transport: transport.stream("/suppressions"),
}


@pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("reply", FOREIGN.values(), ids=FOREIGN)
def test_a_response_that_is_not_the_api_s_is_no_success(
    service: Scripted, transport: Transport, reply: Foreign, request_of: Callable[[Transport], Any]
) -> None:
    service.replies = [(reply[0], reply[1], {"Content-Type": "text/html", **reply[2]})]
    with pytest.raises(ApiError) as refused:
        request_of(transport)
    assert (refused.value.status, refused.value.code) == (reply[0], "unknown")
    assert reply[2].get("Location", "") in refused.value.detail


BROKEN: dict[str, tuple[bytes, dict[str, str]]] = {
    "length": (b"phone\n254711000001\n", {"Content-Length": "200000"}),
    "chunk": (b"12\r\nphone\n254711000001", CHUNKED),
    "between-chunks": (b"13\r\nphone\n254711000001\n\r\n", CHUNKED),
    "size": (b"13\r\nphone\n254711000001\n\r\n1", CHUNKED),
}


@pytest.mark.parametrize(("sent", "headers"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_breaks_off_is_not_complete(
    service: Scripted, transport: Transport, sent: bytes, headers: dict[str, str]
) -> None:
    service.closes, service.replies = True, [(200, sent, headers), (200, {"a": 1}, {})]
    with pytest.raises(Unreachable, match="incomplete"):
        b"".join(transport.stream("/suppressions"))
    assert transport.request("GET", "/limits") == {"a": 1}


@pytest.mark.parametrize("reply", BUSY.values(), ids=BUSY)
def test_a_proxy_without_the_api_is_tried_again(
    service: Scripted, transport: Transport, slept: list[float], reply: Foreign
) -> None:
    service.replies = [reply, (200, {"a": 1}, {}), reply, reply, reply]
    assert transport.request("POST", "/sms/send", {}) == {"a": 1}
    with pytest.raises(ApiError, match=r"50[234] unknown"):
        transport.request("POST", "/sms/send", {})
    assert len(slept) == 3


def test_a_list_ends_at_a_page_without_a_cursor(service: Scripted) -> None:
    service.replies = [(200, {"data": [{"code": "a"}]}, {})]
    with Client(service.url, "key", "secret") as client:
        assert list(client.pages("/errors")) == [{"code": "a"}]
