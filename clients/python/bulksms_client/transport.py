"""Requests: the token, the tries, the errors."""

import json
import random
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from bulksms_client.errors import ApiError, LowBalance, Unreachable

PREFIX = "/api/v1"
DEAD_TOKEN = frozenset({"token_expired", "token_revoked", "invalid_token"})
AGAIN = frozenset({429, 502, 503, 504})
RENEW_BEFORE = 60.0
"""Seconds before its end at which a token is not used any more."""
LONGEST_WAIT = 30.0


class Transport:
    """Requests to one service with one API key. Each thread has a connection of its own, which is used again."""

    def __init__(
        self,
        url: str,
        api_key: str,
        api_secret: str,
        timeout: float = 30.0,
        tries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = urlsplit(url)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ValueError(f"{url!r} is no address of a service. Example: https://sms.example.com")
        self._credentials = {"api_key": api_key, "api_secret": api_secret}
        self._timeout = timeout
        self._tries = max(1, tries)
        self._sleep = sleep
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: set[HTTPConnection] = set()
        self._token = ""
        self._token_ends = 0.0

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """One request, tried again where that is safe. Returns the JSON of its answer.

        `path` is without `/api/v1`; `query` is without what is None. A POST without a `key` gets one, which all of its
        tries share. Raises ApiError and Unreachable.
        """
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        target = self._url.path.rstrip("/") + PREFIX + path + (f"?{urlencode(asked)}" if asked else "")
        headers = {"Idempotency-Key": key or str(uuid.uuid4())} if method == "POST" else {}
        renewed = False
        while True:
            token = self._bearer()
            try:
                return self._tried(method, target, body, {**headers, "Authorization": f"Bearer {token}"})
            except ApiError as error:
                if error.status != 401 or error.code not in DEAD_TOKEN or renewed:
                    raise
                renewed = True
                self._drop(token)

    def _bearer(self) -> str:
        with self._lock:
            if time.monotonic() > self._token_ends - RENEW_BEFORE:
                target = self._url.path.rstrip("/") + PREFIX + "/auth/token"
                answer = self._tried("POST", target, self._credentials, {})
                self._token = str(answer["access_token"])
                self._token_ends = time.monotonic() + float(answer["expires_in"])
            return self._token

    def _drop(self, token: str) -> None:
        with self._lock:
            if self._token == token:
                self._token_ends = 0.0

    def _tried(self, method: str, target: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]) -> Any:
        wait, problem = 0.5, ""
        for left in reversed(range(self._tries)):
            try:
                status, answer, retry_after = self._once(method, target, body, headers)
            except (OSError, HTTPException) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if status < 400:
                    return answer
                error_of = LowBalance if answer.get("code") == "low_balance" else ApiError
                if not left or not (status in AGAIN or answer.get("retryable") is True):
                    raise error_of(status, answer)
                wait = max(wait, retry_after)
            if left:
                self._sleep(min(wait, LONGEST_WAIT) * random.uniform(1.0, 1.3))
                wait *= 2
        raise Unreachable(f"{method} {target} got no answer after {self._tries} tries. {problem}")

    def _once(
        self, method: str, target: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> tuple[int, Any, float]:
        """Status, JSON and Retry-After of one try. What broke is not used again."""
        connection = self._connection()
        sent = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, target, sent, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            raw = answer.read()
        except BaseException:
            self._end(connection)
            raise
        if answer.will_close:
            self._end(connection)
        return answer.status, _json(raw), _seconds(answer.headers.get("Retry-After"))

    def _connection(self) -> HTTPConnection:
        made: HTTPConnection | None = getattr(self._local, "connection", None)
        if made is None:
            kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
            assert self._url.hostname is not None
            made = kind(self._url.hostname, self._url.port, timeout=self._timeout)
            self._local.connection = made
            self._open.add(made)
        return made

    def _end(self, connection: HTTPConnection) -> None:
        self._local.connection = None
        self._open.discard(connection)
        connection.close()

    def close(self) -> None:
        """Close the connections of all threads. Another request opens one again."""
        self._local = threading.local()
        while self._open:
            self._open.pop().close()


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:  # a proxy's own page
        return {"code": "unknown", "detail": raw[:200].decode("utf-8", "replace")}


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() else 0.0
