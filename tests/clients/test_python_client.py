"""The Python client when things go wrong: lost responses, refusals, tokens that end."""

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from bulksms_client import ApiError, Client, Unreachable, wire
from bulksms_client.people import Me, SignIn
from bulksms_client.transport import Transport
from bulksms_client.wire import HARMLESS, Wire

import api.resources  # noqa: F401 - declares the endpoints
from tests.clients.scripted import Reply, Scripted, problem
from tests.harness.house import wait_until
from tests.harness.threads import join_all


def test_a_forked_process_uses_no_connection_of_its_parent(
    service: Scripted, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.replies = [(200, {}, {})] * 4
    for process in (1, 1, 2, 2):
        monkeypatch.setattr(wire, "os", SimpleNamespace(getpid=lambda process=process: process))
        transport.request("GET", "/limits")
    parents, childs = {*service.ports[1:2]}, {*service.ports[2:]}
    assert (len(childs), parents & childs) == (1, set())


def test_a_forked_process_waits_for_no_thread_of_its_parent(
    service: Scripted, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was reading a response at the moment of the fork."""
    service.replies = [(200, {"rows": 1}, {}), (200, {"a": 1}, {})]
    being_read = transport.stream("/sends")
    monkeypatch.setattr(wire, "os", SimpleNamespace(getpid=lambda: 2))
    responses: list[object] = []
    child = threading.Thread(target=lambda: responses.append(transport.request("GET", "/limits")), daemon=True)
    child.start()
    join_all(child)
    assert responses == [{"a": 1}]
    assert service.tokens == 1, "a token that was complete is used"
    assert b"".join(being_read) == b'{"rows": 1}', "its connection was left alone"


def test_a_lost_response_is_requested_again_with_the_same_key(
    service: Scripted, transport: Transport, slept: list[float]
) -> None:
    service.replies = [None, (503, problem("unavailable", retryable=True), {"Retry-After": "7"}), (200, {"a": 1}, {})]
    assert transport.request("POST", "/sms/send", {"phone": "1"}) == {"a": 1}
    assert len(service.requests) == 3
    assert len(service.keys()) == 1
    assert len(slept) == 2
    assert slept[1] >= 7


USE_UP: dict[str, Callable[[Transport], object]] = {
    "change_password": lambda transport: Me(transport).change_password("old", "new"),
    "confirm_totp": lambda transport: Me(transport).confirm_totp("000000"),
    "disable_totp": lambda transport: Me(transport).disable_totp("old"),
    "with_password": lambda transport: SignIn(transport._wire).with_password("a@example.com", "old", "000000"),
    "with_link": lambda transport: SignIn(transport._wire).with_link("once"),
    "begin_oidc": lambda transport: SignIn(transport._wire).begin_oidc(),
    "complete_oidc": lambda transport: SignIn(transport._wire).complete_oidc("attempt", "state", "once"),
    "accept_invitation": lambda transport: SignIn(transport._wire).accept_invitation("once", "new"),
}


@pytest.mark.parametrize("lost", [None, (503, problem("unavailable", retryable=True), {}), (502, {}, {})])
@pytest.mark.parametrize("call", USE_UP)
def test_what_may_have_been_used_up_is_not_sent_again(
    service: Scripted, transport: Transport, call: str, lost: Reply
) -> None:
    service.replies = [lost, (401, problem("invalid_link"), {})]
    with pytest.raises((Unreachable, ApiError), match=r"got no response|503|502"):
        USE_UP[call](transport)
    with pytest.raises(ApiError, match="invalid_link"):
        SignIn(transport._wire).with_link("another")
    assert len(service.requests) == 2


def test_what_had_no_effect_is_sent_again(service: Scripted, slept: list[float]) -> None:
    wire = Wire(service.url, sleep=slept.append)
    service.replies = [(429, problem("rate_limited"), {}), (200, {"a": 1}, {})]
    assert SignIn(wire).with_link("once") == {"a": 1}
    for path in sorted(HARMLESS - {"/auth/token"}):
        service.replies = [None, (503, {}, {}), (200, {"path": path}, {})]
        assert wire.request("POST", path, {}, {}) == {"path": path}
    wire.close()


@pytest.mark.parametrize(("retry_after", "requests"), [("30", 3), ("31", 1), ("3000", 1)])
def test_a_limit_that_lasts_is_reported_at_once(
    service: Scripted, transport: Transport, slept: list[float], retry_after: str, requests: int
) -> None:
    service.replies = [(429, problem("recipient_limit", retryable=True), {"Retry-After": retry_after})] * 3
    with pytest.raises(ApiError, match="429 recipient_limit"):
        transport.request("POST", "/sms/send", {})
    assert (len(service.requests), len(slept)) == (requests, requests - 1)


@pytest.mark.parametrize("lost", [None, (502, b"", {}), (504, problem("gateway_timeout"), {})])
def test_a_delete_whose_response_was_lost_has_worked(service: Scripted, transport: Transport, lost: Reply) -> None:
    service.replies = [lost, (429, problem("rate_limited"), {}), (404, problem("group_not_found"), {})]
    assert transport.request("DELETE", "/groups/g") == {}
    assert len(service.requests) == 3


@pytest.mark.parametrize("before", [(), ((401, problem("token_expired"), {}),), ((429, problem("rate_limited"), {}),)])
def test_a_delete_that_was_never_done_is_not_found(
    service: Scripted, transport: Transport, before: tuple[Reply, ...]
) -> None:
    service.replies = [*before, (404, problem("group_not_found"), {})]
    with pytest.raises(ApiError, match="group_not_found"):
        transport.request("DELETE", "/groups/g")


def test_a_request_that_found_no_connection_is_tried_again() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        tried: list[float] = []
        wire = Wire(f"http://127.0.0.1:{unheard.getsockname()[1]}", tries=3, sleep=tried.append)
        with pytest.raises(Unreachable, match=r"tries: 3\. ConnectionRefusedError"):
            SignIn(wire).with_link("once")
    assert len(tried) == 2


def test_a_connection_that_the_service_has_closed_is_not_used(service: Scripted) -> None:
    wire = Wire(service.url, tries=1)
    service.closes, service.replies = True, [(200, {}, {})] * 20
    for _ in range(20):
        wire.request("POST", "/sign-in/link", {}, {})
        (connection,) = wire._idle
        assert connection.sock.recv(1, socket.MSG_PEEK) == b"", "the service has closed it"
    wire.close()
    assert len(service.requests) == 20


def test_threads_leave_their_connection_to_others(service: Scripted, transport: Transport) -> None:
    service.replies = [(200, {}, {})] * 3
    for _ in range(3):
        thread = threading.Thread(target=transport.request, args=("GET", "/limits"))
        thread.start()
        join_all(thread)
    assert len(service.requests) == 3
    assert len(transport._wire._open) == 1


def test_closing_waits_for_no_response_and_breaks_none(service: Scripted, transport: Transport) -> None:
    service.replies = [(200, {"a": 1}, {}), (200, {"a": 2}, {})]
    service.go_on.clear()
    with ThreadPoolExecutor(1) as threads:
        response = threads.submit(transport.request, "POST", "/sign-in", {})
        wait_until(lambda: service.requests, 60, "the request")
        transport.close()
        service.go_on.set()
        assert response.result(60) == {"a": 1}
    assert transport._wire._idle == [], "its connection is closed after its response"
    assert transport.request("GET", "/limits") == {"a": 2}


@pytest.mark.parametrize("code", ["token_expired", "token_revoked", "invalid_token"])
def test_a_token_that_has_ended_is_renewed_once(service: Scripted, transport: Transport, code: str) -> None:
    service.replies = [(401, problem(code), {}), (200, {"a": 1}, {}), (200, {"a": 2}, {})]
    assert transport.request("POST", "/sms/send", {}) == {"a": 1}
    assert transport.request("POST", "/sms/send", {}) == {"a": 2}
    assert [headers["Authorization"] for _, _, headers, _ in service.requests] == [
        "Bearer t1",
        "Bearer t2",
        "Bearer t2",
    ]
    assert len(service.keys()) == 2


def test_paging_continues_after_an_empty_page(service: Scripted) -> None:
    service.replies = [
        (200, {"data": [], "next_cursor": "a"}, {}),
        (200, {"data": [{"n": 1}], "next_cursor": "b"}, {}),
        (200, {"data": [], "next_cursor": None}, {}),
    ]
    with Client(service.url, "key", "secret") as client:
        assert list(client.pages("/messages", status="failed")) == [{"n": 1}]
    assert ["cursor=" + cursor in path for cursor, (_, path, _, _) in zip("?ab", service.requests, strict=True)] == [
        False,
        True,
        True,
    ]
