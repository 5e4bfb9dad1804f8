"""Detect a database that has lost commits, by comparing it with the sends that this process has accepted."""

import contextlib

from shared.db.connection import UNAVAILABLE
from shared.guard import CHECK_SECONDS, Guard
from shared.periodic import repeat


def keep_checking(guard: Guard) -> None:
    """Run the guard's check every second in a daemon thread."""

    def check() -> None:
        with contextlib.suppress(*UNAVAILABLE):  # requests report an unavailable database
            guard.check()

    repeat(check, CHECK_SECONDS, "guard")
