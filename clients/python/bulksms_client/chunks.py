"""The body of a response, read in chunks."""

from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPResponse, IncompleteRead

from bulksms_client.errors import Unreachable

CHUNK_BYTES = 64 * 1024


class Chunks(Iterator[bytes]):
    """The body of a response, in chunks. `close` ends it early, as does dropping it.

    Raises Unreachable if the connection breaks before the body is complete.
    """

    def __init__(self, response: HTTPResponse, end: Callable[[bool], None]) -> None:
        self._response = response
        self._end: Callable[[bool], None] | None = end
        """Told once whether the connection can be reused."""

    def __next__(self) -> bytes:
        if self._end is None:
            raise StopIteration
        try:
            chunk = self._response.read(CHUNK_BYTES)
            if not chunk and self._response.length:
                raise IncompleteRead(b"", self._response.length)
        except (OSError, HTTPException) as error:
            self.close()
            raise Unreachable(f"The response is incomplete. {type(error).__name__}: {error}") from error
        except BaseException:
            self.close()
            raise
        if not chunk:
            self._done(not self._response.will_close)
            raise StopIteration
        return chunk

    def close(self) -> None:
        """Read no more."""
        self._done(False)

    def __del__(self) -> None:
        self.close()

    def _done(self, reusable: bool) -> None:
        end, self._end = self._end, None
        if end is not None:
            end(reusable)
