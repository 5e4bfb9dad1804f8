"""One port for several processes, each with its own socket.

If processes share one socket, the first to wake accepts all pending connections: in one measurement 63 of 64. With a
socket for each process (SO_REUSEPORT, socket(7)), Linux divides connections by a hash of their addresses: many are
spread evenly, a few are not.
"""

import socket
import sys

IS_DIVIDED = sys.platform == "linux"
"""Whether the operating system divides connections among the sockets of a port."""


class SharedPort:
    """A port that is reserved for this process and its children, each of which has its own socket."""

    def __init__(self, host: str, port: int) -> None:
        """Reserve the port. Raises OSError if it is in use, even by another server with SO_REUSEPORT."""
        bound_socket(host, port).close()  # fails if in use; with SO_REUSEPORT it would join a listening server
        self._kept = bound_socket(host, port, socket.SO_REUSEPORT)
        self._kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)  # from now on nobody else can bind the port
        self.address: tuple[str, int] = self._kept.getsockname()[:2]

    def own_socket(self) -> socket.socket:
        """A socket for one process. Raises OSError."""
        return bound_socket(*self.address, socket.SO_REUSEPORT)

    def close(self) -> None:
        """Release the port."""
        self._kept.close()


def bound_socket(host: str, port: int, *options: int) -> socket.socket:
    """A socket bound to the address, with these socket options set. Raises OSError."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        for option in (socket.SO_REUSEADDR, *options):
            made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind((host, port))
    except OSError:
        made.close()
        raise
    return made
