"""uvicorn's HTTP/1.1 connection, with trailers refused, and problem details for what is not valid HTTP."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.http.wsgi import WholeResponse
from api.server.responses import early_problem

NOT_HTTP = "This is not a valid HTTP request (RFC 9112), or it has trailers, which are not accepted."


class HttpProtocol(HttpToolsProtocol):
    """One connection of a client."""

    _in_head = True
    """Whether a head is awaited or arriving. Headers that the parser reports later are trailers."""

    def on_message_begin(self) -> None:
        """The first byte of a request has arrived."""
        super().on_message_begin()
        self._in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has arrived. Raises ValueError for a trailer: uvicorn would take it for a header (RFC 9110 §6.5.1).

        The parser reports what is raised as an error of the request.
        """
        if not self._in_head:
            raise ValueError("a trailer")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Respond to what is not valid HTTP, and close the connection."""
        self.transport.write(response_bytes(early_problem("bad_request", NOT_HTTP, "")))
        self.transport.close()


def response_bytes(response: WholeResponse) -> bytes:
    """A whole response as bytes of HTTP/1.1."""
    lines = [name + b": " + value + b"\r\n" for name, value in response.headers]
    return b"".join([b"HTTP/1.1 %d \r\n" % response.status, *lines, b"\r\n", response.body])
