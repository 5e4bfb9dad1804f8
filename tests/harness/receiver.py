"""A receiver of webhooks on this machine, which keeps what it was posted and answers as a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Post(NamedTuple):
    """What came. `headers` by their names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """The event's id."""
        return self.headers["webhook-id"]

    @property
    def told(self) -> dict[str, Any]:
        """The payload."""
        made: dict[str, Any] = json.loads(self.body)
        return made


Answer = Callable[[Post], int | tuple[int, dict[str, str]]]


class Receiver:
    """Listens on a port of 127.0.0.1. `answer` says the status of each post, and headers where there are any."""

    def __init__(self, answer: Answer = lambda post: 204) -> None:
        self.answer = answer
        self.posts: list[Post] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                post = Post(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                receiver.posts.append(post)
                answered = receiver.answer(post)
                status, headers = answered if isinstance(answered, tuple) else (answered, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing is said of each request."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()

    def ids(self) -> list[str]:
        """The ids of what came, in order."""
        return [post.id for post in self.posts]


@contextmanager
def receiver(answer: Answer = lambda post: 204) -> Iterator[Receiver]:
    """A receiver, stopped at the end."""
    made = Receiver(answer)
    try:
        yield made
    finally:
        made.stop()
