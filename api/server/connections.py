"""The connections of one process, by client address."""

import resource
from collections.abc import Callable
from typing import Protocol

from api.http.client_ip import shared_by_one
from api.limits.bulkheads import CONNECTIONS_OF_ADDRESS

KEPT_FREE = 256
"""Open files reserved for everything except connections."""
MAX_CONNECTIONS = 16_384


class Connection(Protocol):
    """A connection of a client."""

    def end_if_idle(self) -> bool:
        """End the connection if no request is under way. Returns whether it did."""


class Connections:
    """Limits the connections of the process and of each client address.

    When the process is full, the address with the most connections loses its oldest idle one. Trusted proxies are not
    counted, because they carry the requests of many clients.
    """

    def __init__(self, is_proxy: Callable[[str], bool] = lambda _: False, limit: int | None = None) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.limit = limit or min(MAX_CONNECTIONS, max(64, files - KEPT_FREE))
        self.limit_per_address = min(CONNECTIONS_OF_ADDRESS, max(1, self.limit // 2))
        self._is_proxy = is_proxy
        self._of: dict[str, dict[Connection, None]] = {}
        self._count = 0

    def add(self, connection: Connection, peer: str) -> bool:
        """Count a new connection. Returns False if it must be refused."""
        if self._is_proxy(peer):
            return True
        network = shared_by_one(peer)
        if len(self._of.get(network, ())) >= self.limit_per_address:
            return False
        if self._count >= self.limit and not self._make_room():
            return False
        self._of.setdefault(network, {})[connection] = None
        self._count += 1
        return True

    def remove(self, connection: Connection, peer: str) -> None:
        """Stop counting a connection that has ended."""
        network = shared_by_one(peer)
        held = self._of.get(network)
        if held is None or connection not in held:
            return
        del held[connection]
        self._count -= 1
        if not held:
            del self._of[network]

    def _make_room(self) -> bool:
        largest = max(self._of.values(), key=len)
        return any(connection.end_if_idle() for connection in largest)
