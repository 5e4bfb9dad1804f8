"""Errors of the local service."""


class LocalError(RuntimeError):
    """A process could not be started or kept running. The message says which, and what to do."""
