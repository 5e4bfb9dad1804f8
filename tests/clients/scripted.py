"""A service that gives the clients scripted replies."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, Any] | bytes, dict[str, str]] | None
"""Status, body (JSON, or bytes as they are) and headers."""
Foreign = tuple[int, bytes, dict[str, str]]

PAGE = b"<html>We will be back soon</html>"
FOREIGN: dict[str, Foreign] = {
    "redirect": (302, b"", {"Location": "https://elsewhere.example/"}),
    "moved": (301, b"", {"Location": "/moved"}),
    "page": (200, PAGE, {}),
    "empty": (200, b"", {}),
    "list": (201, b'["hello"]', {}),
    "null": (202, b"null", {}),
}
"""Responses of something that is before the API."""
BUSY: dict[str, Foreign] = {
    "list": (502, b'["bad gateway"]', {}),
    "null": (503, b"null", {}),
    "page": (504, PAGE, {}),
}
"""Responses of a proxy that does not reach the API."""


class Scripted:
    """A service that gives scripted replies, in order; None breaks the connection off."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.ports: list[int] = []
        """Of the clients' connections, one for each request."""
        self.tokens = 0
        self.closes = False
        """Whether it closes each connection after its response, without saying so."""
        self.reads = True
        """Whether it reads a request's body. If not, it closes the connection after its response."""
        self.go_on = threading.Event()
        self.go_on.set()
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0) if scripted.reads else 0)
                if self.path == "/api/v1/auth/token":
                    scripted.tokens += 1
                    return self.give(200, {"access_token": f"t{scripted.tokens}", "expires_in": 86_400}, {})
                headers = {name.title(): value for name, value in self.headers.items()}
                scripted.requests.append((self.command, self.path, headers, body))
                scripted.ports.append(self.client_address[1])
                response = scripted.replies.pop(0)
                self.close_connection = scripted.closes or not scripted.reads
                scripted.go_on.wait(60)
                if response is None:
                    self.close_connection = True
                    return None
                return self.give(*response)

            do_GET = do_DELETE = do_POST  # noqa: N815

            def give(self, status: int, response: dict[str, Any] | bytes, headers: dict[str, str]) -> None:
                raw = response if isinstance(response, bytes) else json.dumps(response).encode()
                self.send_response(status)
                asked_for = self.headers.get("Accept", "")
                given = {"Content-Type": asked_for, "Content-Length": str(len(raw)), **headers}
                for name, value in given.items():
                    if value:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def keys(self) -> set[str]:
        return {headers["Idempotency-Key"] for _, _, headers, _ in self.requests}

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def problem(code: str, *, retryable: bool = False) -> dict[str, Any]:
    return {"code": code, "detail": "It is so.", "retryable": retryable}
