"""A server over HTTP, such as a carrier, that follows the script of a test, request by request."""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Its body as JSON."""
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        """Its body as a form."""
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=True))


@dataclass(frozen=True, slots=True)
class Reply:
    """A scripted reply. `raw` is written as it is instead."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: bool = False
    """Reset the connection, after what was written."""


def json_reply(body: Any, status: int = 200, **headers: str) -> Reply:
    """A reply whose body is JSON."""
    return Reply(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass
class HttpPeer:
    """The server, and the requests that it got."""

    port: int
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str, scheme: str = "http") -> str:
        """An address of its own."""
        return f"{scheme}://127.0.0.1:{self.port}{path}"


@contextlib.contextmanager
def http_peer(respond: Callable[[Request], Reply], context: ssl.SSLContext | None = None) -> Iterator[HttpPeer]:
    """A running server, for the length of a block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(size))
            peer.requests.append(request)
            reply = respond(request)
            with contextlib.suppress(OSError):
                if reply.raw is None:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                else:
                    self.wfile.write(reply.raw)
                self.wfile.flush()
            if reply.cut:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                self.close_connection = True
            if reply.raw is not None:
                self.close_connection = True

        do_GET = do_POST = do_PUT = handle_one  # noqa: N815 - names of the base class

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def get_request(self) -> tuple[Any, Any]:
            sock, address = super().get_request()
            peer.connections += 1
            return sock, address

        def finish_request(self, request: Any, client_address: Any) -> None:
            request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is None:
                super().finish_request(request, client_address)
                return
            with context.wrap_socket(request, server_side=True, do_handshake_on_connect=False) as wrapped:
                wrapped.do_handshake()
                super().finish_request(wrapped, client_address)

        def handle_error(self, *_: Any) -> None:
            """A client that hangs up is what a test wants."""

    server = Server(("127.0.0.1", 0), Handler)
    peer = HttpPeer(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)
