"""What the head of a request may be."""

from api.http.wsgi import Headers

MOST_HEAD = 32 * 1024
"""Bytes of it."""
MOST_LINE = 8 * 1024
"""Bytes of its URL, or of one of its headers."""
MOST_HEADERS = 100
TOO_LARGE = (
    f"The head of the request is larger than {MOST_HEAD:,} bytes, has more than {MOST_HEADERS} headers, or one of more"
    f" than {MOST_LINE:,} bytes."
)


def problem_of_head(url: bytes, headers: Headers, version: str) -> str:
    """What is wrong with a head (RFC 9112 §3.2, and the sizes above); empty where nothing is."""
    size = longest = len(url)
    hosts = 0
    for name, value in headers:
        length = len(name) + len(value)
        size += length
        if length > longest:
            longest = length
        if name == b"host":
            hosts += 1
    if hosts != 1 and (hosts or version == "1.1"):
        return f"The request has {hosts or 'no'} Host header{'s' if hosts else ''}, and has to have one."
    if size > MOST_HEAD or longest > MOST_LINE or len(headers) > MOST_HEADERS:
        return TOO_LARGE
    return ""
