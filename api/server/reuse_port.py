"""A port on which several processes listen, each with a socket of its own.

With one socket for all of them, the process that wakes first takes all the connections that have come: of 64 clients
one process had 63, and it has one core. Where each has its own (SO_REUSEPORT, socket(7)), Linux divides the connections
by their addresses: many about evenly, a few as it comes.
"""

import socket
import sys
from typing import Any

IS_DIVIDED = sys.platform == "linux"
"""Whether the system divides connections among the sockets of a port."""


class SharedPort:
    """A port that is kept for this process and its children. A child that it is given to gets a socket of its own."""

    def __init__(self, host: str, port: int) -> None:
        """Take the port. Raises OSError where somebody has it, be it a service like this one."""
        bound_socket(host, port).close()  # with somebody who listens and shares, what shares would get it too
        self._kept = bound_socket(host, port, socket.SO_REUSEPORT)
        self._kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)  # from here on nobody else gets it
        self.address: tuple[str, int] = self._kept.getsockname()[:2]

    def __reduce__(self) -> tuple[Any, ...]:
        return bound_socket, (*self.address, socket.SO_REUSEPORT)

    def close(self) -> None:
        """Give it back."""
        self._kept.close()


def bound_socket(host: str, port: int, *options: int) -> socket.socket:
    """A socket that is bound to the address, with these options of sockets set. Raises OSError."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        for option in (socket.SO_REUSEADDR, *options):
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind((host, port))
    except OSError:
        made.close()
        raise
    return made
