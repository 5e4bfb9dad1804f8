"""What the local service raises."""


class LocalError(RuntimeError):
    """Something could not be started or kept running. The message says what, and what to do about it."""
