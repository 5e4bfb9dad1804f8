"""HTTP with one service: connections, tries, errors."""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import IO, Any
from urllib.parse import quote, urlencode, urlsplit

from bulksms_client.connections import exchange, was_closed
from bulksms_client.errors import Unreachable
from bulksms_client.responses import Response

PREFIX = "/api/v1"
AGAIN = frozenset({429, 502, 503, 504})
REFUSED = 429
"""The only one of these statuses that is sure to come before a request has had any effect."""
HARMLESS = frozenset({"/auth/token", "/invitations/preview", "/sms/quote"})
"""Paths of POST requests that may happen twice without an Idempotency-Key."""
LONGEST_WAIT = 30.0
CHUNK_BYTES = 64 * 1024
AS_THEY_ARE = "/%?=&:@!$'()*+,;~"
"""Characters of a path that are not encoded: delimiters, and escapes that callers have made."""


class NotConnected(OSError):
    """There is no connection, so that nothing was sent. Its cause says why."""


class Wire:
    """Requests to one service. Thread-safe. Connections are reused: there are as many as there were requests at a time.

    `timeout` is per try, in seconds. Each request is tried up to `tries` times, with pauses of up to `longest_wait`.
    One that must not happen twice is tried again only if nothing was sent, or if the service has refused it with 429.
    After a 429 with a longer Retry-After than `longest_wait`, none is.
    """

    def __init__(
        self,
        url: str,
        timeout: float = 30.0,
        tries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        longest_wait: float = LONGEST_WAIT,
        prefix: str = PREFIX,
    ) -> None:
        self._url = urlsplit(url)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ValueError(f"{url!r} is not the address of a service. Example: https://sms.example.com")
        self._prefix = self._url.path.rstrip("/") + prefix
        self._not_found = "_not_found" if prefix == PREFIX else "not_found"
        """How codes for missing objects end. The operator API has one code, for objects and for paths."""
        self._timeout = timeout
        self._tries = max(1, tries)
        self._sleep = sleep
        self._longest_wait = longest_wait
        self._begin_process()

    def _begin_process(self) -> None:
        """Have no connection yet. A forked process uses none of its parent's.

        It closes those that were idle. Closing another would wait for the thread that was reading from it, for ever.
        """
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._open: set[HTTPConnection] = set()
        """The connections that are kept after their response."""
        self._idle: list[HTTPConnection] = []
        """Those of them that are not in use, the latest one last."""

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """One request with a JSON body, tried again where that is safe. Returns the JSON of its response.

        A POST is sent again only with an Idempotency-Key, or if its path is HARMLESS. A DELETE that is sent again
        returns an empty object if nothing is left to delete. Raises ApiError and Unreachable.
        """
        sent = None if body is None else _encoded(body)
        repeatable = method != "POST" or "Idempotency-Key" in headers or path in HARMLESS
        headers = {"Content-Type": "application/json", **headers}
        return self._tried(method, self.target(path, query), sent, headers, repeatable)

    def upload(
        self,
        path: str,
        file: IO[bytes],
        length: int,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """POST a file of `length` bytes, once. Returns the JSON of the response. Raises ApiError and Unreachable."""
        target = self.target(path, query)
        try:
            response = self._once("POST", target, file, {**headers, "Content-Length": str(length)})
        except (OSError, HTTPException) as error:
            raise Unreachable(f"POST {target} got no response. {_told(error)}") from error
        return response.result()

    def stream(self, path: str, headers: Mapping[str, str], query: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """GET a file of the type that the header Accept names, in chunks.

        That it comes is known when this returns. Its connection is not used again. Raises ApiError, and Unreachable
        also if the connection breaks before the file is complete.
        """
        target = self.target(path, query)
        try:
            connection, head = self._begin("GET", target, None, headers)
            if head.status == 200 and head.headers.get_content_type() == headers["Accept"]:
                self._open.discard(connection)
                chunks = _chunks(connection, head)
                next(chunks)  # it has begun, so that it closes its connection even if nobody reads it
                return chunks
            response = Response.of(head, self._read(connection, head))
        except (OSError, HTTPException) as error:
            raise Unreachable(f"GET {target} got no response. {_told(error)}") from error
        raise response.error()

    def target(self, path: str, query: Mapping[str, Any] | None = None) -> str:
        """The path with the query; parameters that are None are left out."""
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        return self._prefix + quote(path, safe=AS_THEY_ARE) + (f"?{urlencode(asked)}" if asked else "")

    def close(self) -> None:
        """Close the connections; those in use, after their responses. Another request opens one again."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._open.clear()
        for connection in idle:
            connection.close()

    def _tried(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
        repeatable: bool,
    ) -> Any:
        wait, problem, tries, may_be_done = 0.5, "", 0, False
        while tries < self._tries:
            tries += 1
            try:
                response = self._once(method, target, body, headers)
            except (OSError, HTTPException) as error:
                problem = _told(error)
                if not isinstance(error, NotConnected):
                    if not repeatable:
                        break
                    may_be_done = True
            else:
                if method == "DELETE" and may_be_done and response.is_not_found(self._not_found):
                    return {}
                if response.is_success or tries == self._tries or not self._may_pass(response, repeatable):
                    return response.result()
                may_be_done = may_be_done or response.status != REFUSED
                wait = max(wait, response.retry_after)
            if tries < self._tries:
                self._sleep(min(wait, self._longest_wait) * random.uniform(1.0, 1.3))
                wait *= 2
        raise Unreachable(f"{method} {target} got no response; tries: {tries}. {problem}")

    def _may_pass(self, response: Response, repeatable: bool) -> bool:
        """Whether the request may be made again, and may succeed after a pause."""
        if response.status == REFUSED:
            return response.retry_after <= self._longest_wait
        return repeatable and (response.status in AGAIN or response.document.get("retryable") is True)

    def _once(self, method: str, target: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str]) -> Response:
        """The response to one try."""
        connection, head = self._begin(method, target, body, headers)
        return Response.of(head, self._read(connection, head))

    def _begin(
        self, method: str, target: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str]
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """A response, and the connection on which its body comes."""
        connection = self._connection()
        try:
            return connection, exchange(connection, method, target, body, headers)
        except BaseException:
            self._end(connection)
            raise

    def _read(self, connection: HTTPConnection, response: HTTPResponse) -> bytes:
        try:
            raw = response.read()
        except BaseException:
            self._end(connection)
            raise
        self._give_back(connection, not response.will_close)
        return raw

    def _connection(self) -> HTTPConnection:
        """A connection that is not in use and that the service has not closed, or a new one. Raises NotConnected."""
        if self._process != os.getpid():
            inherited = self._idle
            self._begin_process()
            for connection in inherited:
                connection.close()
        while (idle := self._take_idle()) is not None:
            if not was_closed(idle):
                return idle
            self._give_back(idle, False)
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        assert self._url.hostname is not None
        made = kind(self._url.hostname, self._url.port, timeout=self._timeout)
        try:
            made.connect()
        except OSError as error:
            made.close()
            raise NotConnected from error
        self._open.add(made)
        return made

    def _take_idle(self) -> HTTPConnection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _end(self, broken: HTTPConnection) -> None:
        """Use no connection again: what broke this one may have broken the others."""
        broken.close()
        self.close()

    def _give_back(self, connection: HTTPConnection, reusable: bool) -> None:
        """Keep a connection after its response, unless it cannot be reused or `close` was called meanwhile."""
        if reusable:
            with self._lock:
                if connection in self._open:
                    self._idle.append(connection)
                    return
        self._open.discard(connection)
        connection.close()


def _chunks(connection: HTTPConnection, response: HTTPResponse) -> Iterator[bytes]:
    try:
        yield b""
        while chunk := response.read(CHUNK_BYTES):
            yield chunk
        if response.length:
            raise IncompleteRead(b"", response.length)
    except (OSError, HTTPException) as error:
        raise Unreachable(f"The response is incomplete. {_told(error)}") from error
    finally:
        connection.close()


def _encoded(body: Mapping[str, Any]) -> bytes:
    """JSON in as few bytes as possible. Half a surrogate pair is escaped; the service says that it cannot be used."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def _told(error: BaseException) -> str:
    told = error.__cause__ if isinstance(error, NotConnected) and error.__cause__ else error
    return f"{type(told).__name__}: {told}"
