"""Requests with a bearer token, which is renewed when it has ended."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, Protocol, TypeVar

from bulksms_client.errors import ApiError
from bulksms_client.wire import Wire

T = TypeVar("T")

DEAD_TOKEN = frozenset({"token_expired", "token_revoked", "invalid_token", "session_ended"})
RENEW_BEFORE = 60.0
"""Seconds before its end at which a token is not used any more."""


class Tokens(Protocol):
    """Where a transport gets its tokens."""

    def token(self) -> str:
        """A token that is valid, as far as is known."""

    def drop(self, token: str) -> None:
        """The service says that this token is not valid."""


class KeyTokens:
    """Tokens of an API key."""

    def __init__(self, wire: Wire, api_key: str, api_secret: str) -> None:
        self._wire = wire
        self._credentials = {"api_key": api_key, "api_secret": api_secret}
        self._token = ("", 0.0)
        """It and its end by the monotonic clock. Two threads may both get one: each works."""

    def token(self) -> str:
        """The token, or a new one shortly before it expires."""
        token, ends = self._token
        if time.monotonic() > ends - RENEW_BEFORE:
            response = self._wire.request("POST", "/auth/token", self._credentials, {})
            token = str(response["access_token"])
            self._token = (token, time.monotonic() + float(response["expires_in"]))
        return token

    def drop(self, token: str) -> None:
        """Discard the token, unless it has already been replaced."""
        if self._token[0] == token:
            self._token = ("", 0.0)


class Transport:
    """Requests to one service with the tokens of one caller. `headers` go with each request."""

    def __init__(self, wire: Wire, tokens: Tokens, headers: Mapping[str, str] | None = None) -> None:
        self._wire = wire
        self._tokens = tokens
        self._headers = dict(headers or {})

    def check(self, method: str, path: str) -> None:
        """Called before each request. A subclass may refuse it with an error."""

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """One request, tried again where that is safe. Returns the JSON of its response.

        `path` is without `/api/v1`; None in `query` is left out. A POST without a `key` gets one, which all of its
        tries share; with `key=""` it has none, and is sent again only if it is HARMLESS. Raises ApiError and
        Unreachable.
        """
        self.check(method, path)
        once = {"Idempotency-Key": key or str(uuid.uuid4())} if method == "POST" and key != "" else {}
        return self._authorized(lambda headers: self._wire.request(method, path, body, {**once, **headers}, query))

    def stream(self, path: str, query: Mapping[str, Any] | None = None, accept: str = "text/csv") -> Iterator[bytes]:
        """The body of a GET, in chunks. Raises ApiError before the first, and Unreachable before any."""
        return self._authorized(lambda headers: self._wire.stream(path, {"Accept": accept, **headers}, query))

    def upload(
        self,
        path: str,
        file: IO[bytes],
        length: int,
        query: Mapping[str, Any] | None = None,
        content_type: str = "text/csv",
        key: str | None = None,
    ) -> Any:
        """POST a file of `length` bytes, once for each `key`. Returns the JSON. Raises ApiError and Unreachable."""
        self.check("POST", path)
        once = {"Idempotency-Key": key} if key else {}

        def upload(headers: Mapping[str, str]) -> Any:
            file.seek(0)
            return self._wire.upload(path, file, length, {"Content-Type": content_type, **once, **headers}, query)

        return self._authorized(upload)

    def close(self) -> None:
        """Close the connections; those in use, after their responses. Another request opens one again."""
        self._wire.close()

    def _authorized(self, act: Callable[[Mapping[str, str]], T]) -> T:
        """Act with a token; once more with a new one if the first has ended."""
        token = self._tokens.token()
        try:
            return act({**self._headers, "Authorization": f"Bearer {token}"})
        except ApiError as error:
            if error.status != 401 or error.code not in DEAD_TOKEN:
                raise
        self._tokens.drop(token)
        return act({**self._headers, "Authorization": f"Bearer {self._tokens.token()}"})
