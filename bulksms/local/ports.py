"""Free TCP ports on the loopback address."""

import random
import socket

LOOPBACK = "127.0.0.1"

# Below the range from which the kernel takes the port of an outgoing connection (32768 and up): a client that retries
# an ephemeral port while its server is down may connect to itself, and then the server can not come back there.
LOWEST, HIGHEST = 20_000, 32_000


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen at the port now; False also where the port may not be used at all."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Connections of a server that has just ended linger for a minute and are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except (OSError, OverflowError):
            return False
    return True


def free_port() -> int:
    """A port that is free now. Another process may take it before it is used: the caller tries again then."""
    for _ in range(200):
        port = random.randint(LOWEST, HIGHEST)
        if is_free(port):
            return port
    raise OSError(f"no free port found between {LOWEST} and {HIGHEST} on {LOOPBACK}")
