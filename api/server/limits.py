"""Limits of a connection, and what a client reads when it exceeds one."""

MAX_CHUNK_OVERHEAD = 16 * 1024
"""Bytes of chunk sizes and chunk extensions that may arrive without a byte of the body itself."""
MIN_CHUNK_BYTES, FREE_CHUNKS = 64, 256
"""A body's chunks have at least this many bytes on average, except for the first ones: each takes time, whatever its
size."""
MAX_DISCARDED_BYTES = 256 * 1024
"""Bytes that are read and discarded after a request was refused. After them, the connection is not read any more."""
REQUEST_SECONDS = 20.0
"""For the head of a request, and then for a small body. The application times large bodies."""
READER_SECONDS = 60.0
"""For a client to take a response, when more than 64 kB are waiting or the connection is about to close."""
KEEP_ALIVE_SECONDS = 75.0
"""How long a connection stays open without a request."""
NOT_HTTP = "This is not a valid HTTP request (RFC 9112)."
TOO_SLOW = "The request did not arrive in time."
TRAILERS = "Trailers (headers after the body) are not accepted."
CHUNK_OVERHEAD = "The chunks of the body have too much overhead."
TINY_CHUNKS = f"The chunks of the body are too small. Send chunks of at least {MIN_CHUNK_BYTES} bytes."
UPGRADE = "A request that asks for another protocol (Upgrade, CONNECT) must not have a body."
