"""uvicorn's HTTP/1.1 connection, with trailers refused, and problem details for what is not valid HTTP."""

import asyncio
import time

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.http.request import COMPLETE
from api.http.wsgi import WholeResponse
from api.server.responses import early_problem

FINAL_HEADS = (b"HTTP/1.1 2", b"HTTP/1.1 3", b"HTTP/1.1 4", b"HTTP/1.1 5")
"""How the head of a response begins, other than that of `100 Continue`, which nothing follows."""
NOT_HTTP = "This is not a valid HTTP request (RFC 9112), or it has trailers, which are not accepted."


class NoTrailers(list[tuple[bytes, bytes]]):
    """What uvicorn adds trailers to: it would take them for headers (RFC 9110 §6.5.1).

    The parser reports the error as one of the request.
    """

    def append(self, trailer: tuple[bytes, bytes]) -> None:
        """Raise ValueError."""
        raise ValueError("a trailer")


NO_TRAILERS = NoTrailers()


class HttpProtocol(HttpToolsProtocol):
    """One connection of a client."""

    _together: "Together"

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self.transport = self._together = Together(transport)

    def on_headers_complete(self) -> None:
        """The head is complete, and its request has its headers."""
        super().on_headers_complete()
        self.headers = NO_TRAILERS

    def on_message_complete(self) -> None:
        """The request is complete."""
        super().on_message_complete()
        self.scope[COMPLETE] = time.monotonic()  # type: ignore[literal-required]

    def on_response_complete(self) -> None:
        """A response has been written."""
        self._together.flush()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Respond to what is not valid HTTP, and close the connection."""
        self.transport.write(response_bytes(early_problem("bad_request", NOT_HTTP, "")))
        self.transport.close()


class Together(asyncio.Transport):
    """A transport that sends the head of a response together with what follows: one system call instead of two."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._head = b""

    def is_closing(self) -> bool:
        """Whether the connection is ending."""
        return self._transport.is_closing()

    def write(self, data: bytes) -> None:  # type: ignore[override]
        """Send the data, unless it is the head of a response."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(FINAL_HEADS):
            self._head = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Send a head that nothing follows, unless the client has left."""
        if self._head and not self._transport.is_closing():
            self.write(b"")

    def close(self) -> None:
        """Close the connection when the client has taken what was written."""
        self.flush()
        self._transport.close()


def response_bytes(response: WholeResponse) -> bytes:
    """A whole response as bytes of HTTP/1.1."""
    lines = [name + b": " + value + b"\r\n" for name, value in response.headers]
    return b"".join([b"HTTP/1.1 %d \r\n" % response.status, *lines, b"\r\n", response.body])
