"""Free TCP ports on the loopback address."""

import random
import socket
from collections import deque

LOOPBACK = "127.0.0.1"

RANDOM = random.SystemRandom()
"""Not the module's own generator: where that is seeded, several processes choose the same ports at the same time."""

# Below the kernel's range of ephemeral ports (32768 and up): a client that keeps retrying a port in that range while
# its server is down may connect to itself, and then the server cannot listen there again.
LOWEST, HIGHEST = 20_000, 32_000

CONNECT_SECONDS = 2.0


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now; False also if the port is not permitted."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Connections in TIME_WAIT after a server has ended do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except (OSError, OverflowError):
            return False
    return True


def is_listening(port: int) -> bool:
    """Whether a server accepts connections on the port. Unlike `is_free`, it never has the port itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.settimeout(CONNECT_SECONDS)
        return client.connect_ex((LOOPBACK, port)) == 0


_given: deque[int] = deque(maxlen=100)


def free_port() -> int:
    """A port that is free now, and not one of the last 100 returned. Another process may take it first; the caller
    then has to retry."""
    for _ in range(200):
        port = RANDOM.randint(LOWEST, HIGHEST)
        if port not in _given and is_free(port):
            _given.append(port)
            return port
    raise OSError(f"no free port found between {LOWEST} and {HIGHEST} on {LOOPBACK}")
