"""A limit on the large groups read at once for an account, to price messages with placeholders."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from api.problems import Problem

LARGE = 10_000
"""Contacts. A group of at least this many counts: reading 100,000 contacts takes about a second."""
MAX_AT_ONCE = 2
"""Large groups of one account, in each process."""


class LargeGroups:
    """Counts the large groups being read, by account. Over the limit the request gets 429 at once: waiting would hold a
    thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading: Counter[int] = Counter()

    @contextmanager
    def reading(self, account: int, contacts: int) -> Iterator[None]:
        """Context manager around reading a group of `contacts` contacts. Raises Problem rate_limited."""
        if contacts < LARGE:
            yield
            return
        with self._lock:
            if self._reading[account] >= MAX_AT_ONCE:
                detail = f"Only {MAX_AT_ONCE} groups of {LARGE:,} contacts or more can be priced at the same time."
                raise Problem("rate_limited", detail, headers={"Retry-After": "5"})
            self._reading[account] += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading[account] -= 1
                if not self._reading[account]:
                    del self._reading[account]
