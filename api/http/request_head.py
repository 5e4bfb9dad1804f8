"""Limits and checks of a request's head: its request line and headers."""

from api.http.wsgi import Headers

MAX_HEAD_BYTES = 32 * 1024
"""Bytes of the whole head."""
MAX_LINE_BYTES = 8 * 1024
"""Bytes of the URL, or of one header."""
MAX_HEADERS = 100
TOO_LARGE = (
    f"The head of the request is larger than {MAX_HEAD_BYTES:,} bytes, has more than {MAX_HEADERS} headers, or"
    f" a header of more than {MAX_LINE_BYTES:,} bytes."
)


def problem_of_head(url: bytes, headers: Headers, version: str) -> str:
    """Describe what is wrong with a head (RFC 9112 §3.2 and §6.1, and the sizes above); empty if it is valid."""
    size = longest = len(url)
    hosts = 0
    codings: list[bytes] = []
    for name, value in headers:
        length = len(name) + len(value)
        size += length
        if length > longest:
            longest = length
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding":
            codings.append(value)
    if hosts != 1 and (hosts or version == "1.1"):
        return f"The request has {hosts or 'no'} Host header{'s' if hosts else ''}; it must have exactly one."
    if codings and (version != "1.1" or len(codings) > 1 or codings[0].lower() != b"chunked"):
        return "The only supported Transfer-Encoding is `chunked`, given once, in HTTP/1.1."
    if size > MAX_HEAD_BYTES or longest > MAX_LINE_BYTES or len(headers) > MAX_HEADERS:
        return TOO_LARGE
    return ""
