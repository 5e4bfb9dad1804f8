"""Limits the guessing of credentials: failed attempts are counted."""

from collections.abc import Container, Iterator
from contextlib import contextmanager

from api.limits.rate_limits import Buckets
from api.problems import Problem


@contextmanager
def counted_attempt(failures: Buckets, key: str, detail: str, failure_codes: Container[str]) -> Iterator[None]:
    """Check credentials in this block; a Problem with one of the codes counts as a failed attempt of the key.

    Raises Problem rate_limited with the detail, without entering the block, for a key with too many of them.
    """
    left = failures.left(key)
    if left < 1:
        raise Problem("rate_limited", detail, headers={"Retry-After": str(failures.wait(left - 1))})
    try:
        yield
    except Problem as problem:
        if problem.code in failure_codes:
            failures.take(key)
        raise
