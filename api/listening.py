"""A port on which several processes listen, each with a socket of its own.

With one socket for all of them, the process that wakes first takes all the connections that have come: of 64 clients
one process had 63, and it has one core. Where each has its own (SO_REUSEPORT, socket(7)), Linux divides the connections
by their addresses.
"""

import socket
import sys
from typing import Any

IS_DIVIDED = sys.platform == "linux"
"""Whether the system divides connections among the sockets of a port."""


class Listening(socket.socket):
    """A socket that has a port for this process and its children: each child that it is given to gets its own."""

    def __init__(self, host: str, port: int) -> None:
        """Bind to the address, beside others of ours. Raises OSError where somebody else has it."""
        super().__init__(_family(host))
        self._address = host, port
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.bind(self._address)

    def __reduce__(self) -> tuple[Any, ...]:
        return Listening, self._address


def take(host: str, port: int) -> Listening:
    """Take a port that nobody has. Raises OSError where somebody listens there, be it a service like this one."""
    with socket.socket(_family(host)) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind((host, port))
    return Listening(host, port)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
