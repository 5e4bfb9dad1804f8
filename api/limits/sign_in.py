"""Limits the guessing of credentials: failed attempts are counted by address."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.http.client_ip import shared_by_one
from api.limits.rate_limits import Buckets
from api.problems import Problem


@contextmanager
def counted_attempt(failures: Buckets, address: str) -> Iterator[None]:
    """Check credentials in this block; a Problem that it raises counts as a failed attempt of the address.

    Raises Problem rate_limited, without entering the block, for an address with too many of them.
    """
    network = shared_by_one(address)
    left = failures.left(network)
    if left < 1:
        raise Problem(
            "rate_limited",
            "Too many failed sign-ins from this address.",
            headers={"Retry-After": str(failures.wait(left - 1))},
        )
    try:
        yield
    except Problem:
        failures.take(network)
        raise
