"""Sends whose messages differ: their recipients are put into batches by the segments of their messages.

So all messages of a batch have one price, and what counts messages times price stays exact batch by batch. A batch
keeps the values of its recipients, and a worker makes the texts of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

__all__ = ["PRICE", "SEGMENTS", "Chunk", "Fit", "chunks_of"]

SEGMENTS: Final = "LEAST(s.segments, b.segments)"
"""SQL: segments of each message of a batch `b` of a send `s`. The batch has its own where the messages differ, and the
send then has the most; elsewhere it has none, and LEAST passes over what is null."""
PRICE: Final = "LEAST(s.price, b.segments)"
"""SQL: credits for each message of a batch `b` of a send `s`."""


class Fit(NamedTuple):
    """A recipient who can be sent the message: the place in the list, and the values that go into the text."""

    position: int
    phone: str
    segments: int
    variables: Mapping[str, str]


@dataclass(slots=True)
class Chunk:
    """The recipients of one batch to be, in order."""

    segments: int
    positions: list[int] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    variables: list[Mapping[str, str]] = field(default_factory=list)

    def parts(self, sets: Iterable[Iterable[int]]) -> "list[Chunk]":
        """A chunk for each set of its recipients."""
        return [
            Chunk(
                self.segments,
                [self.positions[each] for each in own],
                [self.phones[each] for each in own],
                [self.variables[each] for each in own],
            )
            for own in map(list, sets)
        ]


def chunks_of(recipients: Iterable[Fit], size: int) -> list[Chunk]:
    """The recipients in pieces of at most `size`, each of messages of equally many segments."""
    chunks: list[Chunk] = []
    open_pieces: dict[int, Chunk] = {}
    for recipient in recipients:
        chunk = open_pieces.get(recipient.segments)
        if chunk is None or len(chunk.phones) == size:
            chunk = open_pieces[recipient.segments] = Chunk(recipient.segments)
            chunks.append(chunk)
        chunk.positions.append(recipient.position)
        chunk.phones.append(recipient.phone)
        chunk.variables.append(recipient.variables)
    return chunks
