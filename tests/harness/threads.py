"""Threads that a test has started."""

from threading import Thread

SECONDS = 120.0
"""Which a machine under load may take."""


def join_all(*threads: Thread) -> None:
    """Wait until they have ended. Raises AssertionError if one does not within SECONDS."""
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive(), f"{thread.name} has not ended within {SECONDS:g} s"
