"""A receiver of webhooks on this machine, which keeps what is posted to it or got, and responds as a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Post(NamedTuple):
    """A post that was received, or a GET with an empty body. `headers` have lower-case names."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """The event's id."""
        return self.headers["webhook-id"]

    @property
    def payload(self) -> dict[str, Any]:
        """The body as JSON."""
        made: dict[str, Any] = json.loads(self.body)
        return made


Respond = Callable[[Post], int | tuple[int, dict[str, str]]]


class Receiver:
    """Listens on a port of 127.0.0.1. `respond` gives the status for each post, and headers where there are any."""

    def __init__(self, respond: Respond = lambda post: 204) -> None:
        self.respond = respond
        self.posts: list[Post] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                post = Post(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                receiver.posts.append(post)
                response = receiver.respond(post)
                status, headers = response if isinstance(response, tuple) else (response, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST  # noqa: N815 - so that http.server finds it

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def ids(self) -> list[str]:
        """The ids of what came, in order."""
        return [post.id for post in self.posts]


@contextmanager
def receiver(respond: Respond = lambda post: 204) -> Iterator[Receiver]:
    """A receiver, stopped at the end."""
    made = Receiver(respond)
    try:
        yield made
    finally:
        made.stop()
