"""Names that lead where a test wants, without a network."""

import itertools
import socket
from collections.abc import Sequence

from aiohttp.abc import AbstractResolver, ResolveResult


class Answers(AbstractResolver):
    """Resolves every name to these addresses, or at one look-up after the other to each of several `lists`.

    With `always`, to that port whatever is asked for.
    """

    def __init__(self, *addresses: str, lists: Sequence[Sequence[str]] = (), always: int | None = None) -> None:
        self._answers = itertools.cycle(lists or [addresses])
        self._always = always

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=each,
                port=self._always or port,
                family=socket.AF_INET6 if ":" in each else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for each in next(self._answers)
        ]

    async def close(self) -> None:
        """Nothing is open."""
