"""How many large groups are read at once for an account, to price a message with placeholders."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from api.http.problems import Problem

LARGE = 10_000
"""Contacts from which on reading a group takes long enough to be counted: a second for 20,000 of them."""
MAX_AT_ONCE = 2
"""Of one account, in each process."""


class LargeGroups:
    """The large groups that are read, by account. Who has too many gets 429 at once: to wait would hold a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading: Counter[int] = Counter()

    @contextmanager
    def reading(self, account: int, contacts: int) -> Iterator[None]:
        """While a group of so many contacts is read. Raises Problem rate_limited."""
        if contacts < LARGE:
            yield
            return
        with self._lock:
            if self._reading[account] >= MAX_AT_ONCE:
                detail = f"Only {MAX_AT_ONCE} groups of {LARGE:,} contacts or more are priced at the same time."
                raise Problem("rate_limited", detail, headers={"Retry-After": "5"})
            self._reading[account] += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading[account] -= 1
                if not self._reading[account]:
                    del self._reading[account]
