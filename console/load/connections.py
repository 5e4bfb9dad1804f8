"""How many connections the console's process can hold."""

import resource

MOST = 2000
DESCRIPTORS_EACH = 12
"""A connection's socket, the file of a large request, and those of responses that its client has not read yet: as
many as RECV_BYTES of requests ask for."""
OWN_DESCRIPTORS = 100
"""For the log, modules and connections to the API."""


def raise_descriptor_limit() -> int:
    """Raise RLIMIT_NOFILE as far as the console can use it and the system allows. Returns the limit."""
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST * DESCRIPTORS_EACH + OWN_DESCRIPTORS
    if limit == resource.RLIM_INFINITY:
        return wanted
    if limit < wanted:
        limit = wanted if highest == resource.RLIM_INFINITY else max(limit, min(wanted, highest))
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, highest))
    return limit


def most_connections(descriptors: int) -> int:
    """Open connections at a time for that many file descriptors. Further connections wait."""
    return max(1, min(MOST, (descriptors - OWN_DESCRIPTORS) // DESCRIPTORS_EACH))
