"""The Python client when things go wrong: lost responses, refusals, tokens that end, webhooks that are forged."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from bulksms_client import Client, InvalidSignature, Unreachable, verify_webhook
from bulksms_client.transport import KeyTokens, Transport
from bulksms_client.webhooks import TOLERANCE
from bulksms_client.wire import Wire
from standardwebhooks import Webhook

Reply = tuple[int, dict[str, Any], dict[str, str]] | None
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Scripted:
    """A service that gives scripted replies, in order; None breaks the connection off."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.tokens = 0
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path == "/api/v1/auth/token":
                    scripted.tokens += 1
                    return self.give(200, {"access_token": f"t{scripted.tokens}", "expires_in": 86_400}, {})
                scripted.requests.append((self.command, self.path, dict(self.headers), body))
                response = scripted.replies.pop(0)
                if response is None:
                    self.close_connection = True
                    return None
                return self.give(*response)

            do_GET = do_POST  # noqa: N815

            def give(self, status: int, response: dict[str, Any], headers: dict[str, str]) -> None:
                raw = json.dumps(response).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def keys(self) -> set[str]:
        return {headers["Idempotency-Key"] for _, _, headers, _ in self.requests}

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def service() -> Iterator[Scripted]:
    made = Scripted()
    yield made
    made.stop()


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def transport(service: Scripted, slept: list[float]) -> Iterator[Transport]:
    url = f"http://127.0.0.1:{service.server.server_port}"
    wire = Wire(url, timeout=60, tries=3, sleep=slept.append)
    made = Transport(wire, KeyTokens(wire, "key", "secret"))
    yield made
    made.close()


def problem(code: str, *, retryable: bool = False) -> dict[str, Any]:
    return {"code": code, "detail": "It is so.", "retryable": retryable}


def test_it_works(service: Scripted, transport: Transport) -> None:
    service.replies = [(200, {"a": 1}, {})]
    assert transport.request("GET", "/limits", query={"x": None, "y": "z"}) == {"a": 1}
    assert [(method, path) for method, path, _, _ in service.requests] == [("GET", "/api/v1/limits?y=z")]


def test_a_lost_response_is_requested_again_with_the_same_key(
    service: Scripted, transport: Transport, slept: list[float]
) -> None:
    service.replies = [None, (503, problem("unavailable", retryable=True), {"Retry-After": "7"}), (200, {"a": 1}, {})]
    assert transport.request("POST", "/sms/send", {"phone": "1"}) == {"a": 1}
    assert len(service.requests) == 3
    assert len(service.keys()) == 1
    assert len(slept) == 2
    assert slept[1] >= 7


def test_when_every_try_fails_it_raises_unreachable(service: Scripted, transport: Transport) -> None:
    service.replies = [None, None, None]
    with pytest.raises(Unreachable):
        transport.request("POST", "/sms/send", {}, key="mine")
    assert service.keys() == {"mine"}


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


def test_a_refused_request_is_not_retried(service: Scripted, transport: Transport, slept: list[float]) -> None:
    service.replies = [(402, {**problem("low_balance"), "required": 3, "balance": 2}, {})]
    with pytest.raises(Exception, match="402 low_balance: It is so") as refused:
        transport.request("POST", "/sms/send", {})
    assert (type(refused.value).__name__, slept) == ("LowBalance", [])


def signed(body: str, at: float) -> dict[str, str]:
    """Headers as the reference library of Standard Webhooks makes them."""
    signature = Webhook(SECRET).sign("msg_1", datetime.fromtimestamp(at, UTC), body)
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at)), "Webhook-Signature": f"v1,AAAA {signature}"}


NOW = 1_800_000_000.0
BODY = '{"type":"message.delivered","data":{"phone":"254711000000"}}'


def test_paging_continues_after_an_empty_page(service: Scripted) -> None:
    service.replies = [
        (200, {"data": [], "next_cursor": "a"}, {}),
        (200, {"data": [{"n": 1}], "next_cursor": "b"}, {}),
        (200, {"data": [], "next_cursor": None}, {}),
    ]
    with Client(f"http://127.0.0.1:{service.server.server_port}", "key", "secret") as client:
        assert list(client.pages("/messages", status="failed")) == [{"n": 1}]
    assert ["cursor=" + cursor in path for cursor, (_, path, _, _) in zip("?ab", service.requests, strict=True)] == [
        False,
        True,
        True,
    ]


def test_a_webhook_is_verified_as_the_reference_library_signs_it() -> None:
    event = verify_webhook(SECRET, signed(BODY, NOW), BODY.encode(), now=NOW)
    assert event["data"] == {"phone": "254711000000"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda headers, body: (headers, body.replace("254711000000", "254711000001")),
        lambda headers, body: ({**headers, "Webhook-Id": "msg_2"}, body),
        lambda headers, body: ({**headers, "Webhook-Timestamp": str(int(NOW) + 1)}, body),
        lambda headers, body: ({**headers, "Webhook-Signature": "v1,AAAA"}, body),
        lambda headers, body: ({name: value for name, value in headers.items() if name != "Webhook-Id"}, body),
        lambda headers, body: (signed(body, NOW - TOLERANCE - 1), body),
        lambda headers, body: (signed(body, NOW + TOLERANCE + 1), body),
    ],
)
def test_a_forged_webhook_is_refused(spoil: Callable[..., Any]) -> None:
    headers, body = spoil(signed(BODY, NOW), BODY)
    with pytest.raises(InvalidSignature):
        verify_webhook(SECRET, headers, body, now=NOW)
