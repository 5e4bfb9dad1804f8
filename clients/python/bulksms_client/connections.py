"""What happens on one connection to a service."""

import select
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ssl import SSLEOFError
from typing import IO


def exchange(
    connection: HTTPConnection, method: str, target: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str]
) -> HTTPResponse:
    """Send a request, and get its response.

    A service that refuses a large body responds while the body is being sent, and then closes the connection.
    """
    try:
        connection.request(method, target, body, dict(headers))
    except (ConnectionError, SSLEOFError) as broken:
        try:
            early = connection.getresponse()
        except (OSError, HTTPException):
            raise broken from None
        early.will_close = True
        return early
    return connection.getresponse()


def was_closed(connection: HTTPConnection) -> bool:
    """Whether the service has closed an unused connection: there is something to read, which is its end."""
    if connection.sock is None:
        return True
    try:
        if not hasattr(select, "poll"):
            return bool(select.select([connection.sock], [], [], 0)[0])
        poll = select.poll()
        poll.register(connection.sock, select.POLLIN)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return True
