"""A receiver of webhooks on this machine, which keeps what is posted to it or got, and responds as a test wants."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from tests.harness.http_carrier import Reply, Request, http_peer


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
        self._running = ExitStack()
        self.url = self._running.enter_context(http_peer(self._take)).url("/hook")

    def _take(self, request: Request) -> Reply:
        post = Post(request.path, request.headers, request.body)
        self.posts.append(post)
        response = self.respond(post)
        status, headers = response if isinstance(response, tuple) else (response, {})
        return Reply(status, b"", headers)

    def stop(self) -> None:
        """Stop listening."""
        self._running.close()

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
