"""The body of a response, read in pieces."""

from collections.abc import Callable, Iterator
from http.client import HTTPResponse

CHUNK_BYTES = 64 * 1024


class Pieces(Iterator[bytes]):
    """The body of a response, in pieces. `close` ends it early, as does dropping it."""

    def __init__(self, response: HTTPResponse, end: Callable[[bool], None]) -> None:
        self._response = response
        self._end: Callable[[bool], None] | None = end
        """Told once whether the connection can be reused."""

    def __next__(self) -> bytes:
        if self._end is None:
            raise StopIteration
        try:
            piece = self._response.read(CHUNK_BYTES)
        except BaseException:
            self.close()
            raise
        if not piece:
            self._done(not self._response.will_close)
            raise StopIteration
        return piece

    def close(self) -> None:
        """Read no more."""
        self._done(False)

    def __del__(self) -> None:
        self.close()

    def _done(self, reusable: bool) -> None:
        end, self._end = self._end, None
        if end is not None:
            end(reusable)
