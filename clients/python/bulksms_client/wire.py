"""HTTP with one service: connections, tries, errors."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import IO, Any
from urllib.parse import quote, urlencode, urlsplit

from bulksms_client.errors import ApiError, LowBalance, Unreachable

PREFIX = "/api/v1"
AGAIN = frozenset({429, 502, 503, 504})
LONGEST_WAIT = 30.0
AS_THEY_ARE = "/%?=&:@!$'()*+,;~"
"""Characters of a path that are not encoded: delimiters, and escapes that callers have made."""
CHUNK_BYTES = 64 * 1024


class Wire:
    """Requests to one service. Each thread has a connection of its own, which is used again.

    `timeout` is per try, in seconds. Each request is tried up to `tries` times, with pauses of up to `longest_wait`.
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
        self._timeout = timeout
        self._tries = max(1, tries)
        self._sleep = sleep
        self._longest_wait = longest_wait
        self._local = threading.local()
        self._open: set[HTTPConnection] = set()

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """One request with a JSON body, tried again where that is safe. Returns the JSON of its answer.

        Raises ApiError and Unreachable.
        """
        sent = None if body is None else json.dumps(body).encode()
        return self._tried(method, self.target(path, query), sent, {"Content-Type": "application/json", **headers})

    def upload(
        self,
        path: str,
        file: IO[bytes],
        length: int,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """POST a file of `length` bytes, once. Returns the JSON of the answer. Raises ApiError and Unreachable."""
        target = self.target(path, query)
        try:
            answer = self._answer("POST", target, file, {**headers, "Content-Length": str(length)})
            raw = answer.read()
        except (OSError, HTTPException) as error:
            self._end()
            raise Unreachable(f"POST {target} got no answer. {type(error).__name__}: {error}") from error
        self._end_if_closed(answer)
        if answer.status >= 400:
            raise _error(answer.status, _json(raw))
        return _json(raw)

    def stream(self, path: str, headers: Mapping[str, str], query: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """GET a body in pieces. Its status is known when this returns. Raises ApiError and Unreachable."""
        target = self.target(path, query)
        try:
            answer = self._answer("GET", target, None, headers)
            if answer.status >= 400:
                raise _error(answer.status, _json(answer.read()))
        except (OSError, HTTPException) as error:
            self._end()
            raise Unreachable(f"GET {target} got no answer. {type(error).__name__}: {error}") from error
        return self._pieces(answer)

    def target(self, path: str, query: Mapping[str, Any] | None = None) -> str:
        """The path with the query; parameters that are None are left out."""
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        return self._prefix + quote(path, safe=AS_THEY_ARE) + (f"?{urlencode(asked)}" if asked else "")

    def close(self) -> None:
        """Close the connections of all threads. Another request opens one again."""
        self._local = threading.local()
        while self._open:
            self._open.pop().close()

    def _tried(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        wait, problem = 0.5, ""
        for left in reversed(range(self._tries)):
            try:
                status, answer, retry_after = self._once(method, target, body, headers)
            except (OSError, HTTPException) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if status < 400:
                    return answer
                if not left or not (status in AGAIN or answer.get("retryable") is True):
                    raise _error(status, answer)
                wait = max(wait, retry_after)
            if left:
                self._sleep(min(wait, self._longest_wait) * random.uniform(1.0, 1.3))
                wait *= 2
        raise Unreachable(f"{method} {target} got no answer after {self._tries} tries. {problem}")

    def _once(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, Any, float]:
        """Status, JSON and Retry-After of one try. What broke is not used again."""
        try:
            answer = self._answer(method, target, body, headers)
            raw = answer.read()
        except BaseException:
            self._end()
            raise
        self._end_if_closed(answer)
        return answer.status, _json(raw), _seconds(answer.headers.get("Retry-After"))

    def _answer(
        self, method: str, target: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str]
    ) -> HTTPResponse:
        connection = self._connection()
        connection.request(method, target, body, dict(headers))
        return connection.getresponse()

    def _pieces(self, answer: HTTPResponse) -> Iterator[bytes]:
        whole = False
        try:
            while piece := answer.read(CHUNK_BYTES):
                yield piece
            whole = True
        finally:
            if not whole or answer.will_close:
                self._end()

    def _connection(self) -> HTTPConnection:
        made: HTTPConnection | None = getattr(self._local, "connection", None)
        if made is None:
            kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
            assert self._url.hostname is not None
            made = kind(self._url.hostname, self._url.port, timeout=self._timeout)
            self._local.connection = made
            self._open.add(made)
        return made

    def _end_if_closed(self, answer: HTTPResponse) -> None:
        if answer.will_close:
            self._end()

    def _end(self) -> None:
        connection: HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            self._open.discard(connection)
            connection.close()


def _error(status: int, answer: Any) -> ApiError:
    kind = LowBalance if answer.get("code") == "low_balance" else ApiError
    return kind(status, answer)


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:  # a proxy's own page
        return {"code": "unknown", "detail": raw[:200].decode("utf-8", "replace")}


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() else 0.0
