"""What this process has submitted lately, by the carrier's id: so that a receipt finds its row by key.

Finding it by the carrier's id in the database costs several times as much. What is forgotten here, or was submitted by
another process, is still found that way.
"""

from typing import NamedTuple
from uuid import UUID

GENERATION = 100_000
"""At most two generations of so many messages are remembered, some 300 bytes each."""


class Known(NamedTuple):
    """A message that a carrier has accepted."""

    message_id: str
    phone: str
    send_id: UUID


class References:
    """Remembers accepted messages. Safe to use from several threads: every step is one operation on a dict."""

    def __init__(self) -> None:
        self._young: dict[str, Known] = {}
        self._old: dict[str, Known] = {}

    def remember(self, accepted: dict[str, Known]) -> None:
        """Remember messages by the carrier's id."""
        if len(self._young) > GENERATION:
            self._old, self._young = self._young, {}
        self._young.update(accepted)

    def take(self, reference: str) -> Known | None:
        """The message with the carrier's id, remembered no longer."""
        return self._young.pop(reference, None) or self._old.pop(reference, None)
