"""One port for several processes, each with its own socket.

If processes share one socket, as uvicorn has it, the first to wake accepts all pending connections: in one measurement
64 of 64. With a socket for each process (SO_REUSEPORT, socket(7)), Linux divides connections by a hash of their
addresses: many are spread evenly, a few are not.
"""

import socket
import sys
from typing import Any

IS_DIVIDED = sys.platform == "linux"
"""Whether the operating system divides connections among the sockets of a port."""


class SharedPort(socket.socket):
    """A port that is reserved for this process and its children. A child to which it is passed gets its own socket."""

    def __init__(self, host: str, port: int) -> None:
        """Reserve the port. Raises OSError if it is in use, even by another server with SO_REUSEPORT."""
        bound_socket(host, port).close()  # fails if in use; with SO_REUSEPORT it would join a listening server
        super().__init__(family_of(host))
        bind(self, host, port, socket.SO_REUSEPORT)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)  # from now on nobody else can bind the port

    def __reduce__(self) -> Any:
        """A socket of its own, in the process that unpickles it."""
        return bound_socket, (*self.getsockname()[:2], socket.SO_REUSEPORT)


def bound_socket(host: str, port: int, *options: int) -> socket.socket:
    """A socket bound to the address, with these socket options set. Raises OSError."""
    made = socket.socket(family_of(host))
    bind(made, host, port, *options)
    return made


def bind(made: socket.socket, host: str, port: int, *options: int) -> None:
    """Bind a socket with these options set. Closes it and raises OSError if that fails."""
    try:
        for option in (socket.SO_REUSEADDR, *options):
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind((host, port))
    except OSError:
        made.close()
        raise


def family_of(host: str) -> socket.AddressFamily:
    """IPv6 for an address with colons."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET
