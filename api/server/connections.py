"""The connections of one process, by client address, and what they share."""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from api.http.client_address import address_block
from api.http.request import Headers, Receive, Scope, Send
from api.limits.bulkheads import CONNECTIONS_OF_ADDRESS
from api.limits.refusal_delays import Refusals

Address = tuple[str, int]

CLIENT_LEFT = 499
"""The status, in logs, of a request whose client left before the response began, as nginx has it."""
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
        network = address_block(peer)
        if len(self._of.get(network, ())) >= self.limit_per_address:
            return False
        if self._count >= self.limit and not self._make_room():
            return False
        self._of.setdefault(network, {})[connection] = None
        self._count += 1
        return True

    def remove(self, connection: Connection, peer: str) -> None:
        """Stop counting a connection that has ended."""
        network = address_block(peer)
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


class ClientConnection(Protocol):
    """What an exchange needs of its connection."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    state: "ServerState"

    def pause_reading(self) -> None:
        """Stop reading from the client."""

    def resume_reading(self) -> None:
        """Read from the client again."""

    async def writable(self) -> None:
        """Wait until the client has read enough of what was sent."""

    def response_completed(self) -> None:
        """A response has been written."""

    def close(self) -> None:
        """Close the connection when the client has read what was sent."""

    def shut_down(self) -> None:
        """Close the connection, after the response to any request that is under way."""


@dataclass
class ServerState:
    """The state that all connections of a process share."""

    application: Callable[[Scope, Receive, Send], Awaitable[None]]
    connection_limits: Connections
    refusals: Refusals = field(default_factory=Refusals)
    address: tuple[str, int] | None = None
    on_response: Callable[[Scope, int, float], None] | None = None
    """Called with the scope, the status and the seconds from the request's last byte, when a response begins."""
    on_end: Callable[[Scope, int, Headers, float, int], None] | None = None
    """Called when a request has ended: with the scope, the response's status (CLIENT_LEFT if there was none) and
    headers, the seconds from the request's last byte, and the bytes of the response's body."""
    connections: set[ClientConnection] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
