"""One HTTP request to a process, on a connection of its own."""

import http.client
from contextlib import closing
from typing import NamedTuple

from bulksms.local.ports import LOOPBACK


class Fetched(NamedTuple):
    """A response."""

    status: int
    headers: http.client.HTTPMessage
    text: str


def fetch(
    port: int,
    path: str,
    method: str = "GET",
    body: bytes | str | None = None,
    headers: dict[str, str] | None = None,
    *,
    host: str = LOOPBACK,
    timeout: float = 60,
) -> Fetched:
    """The response to a request. Raises OSError or HTTPException if there is none."""
    with closing(http.client.HTTPConnection(host, port, timeout=timeout)) as connection:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return Fetched(response.status, response.headers, response.read().decode())


def status_of(port: int, path: str, *, host: str = LOOPBACK, timeout: float = 60) -> int | None:
    """The status of the response to a GET; None if there is no response."""
    try:
        return fetch(port, path, host=host, timeout=timeout).status
    except (OSError, http.client.HTTPException):
        return None
