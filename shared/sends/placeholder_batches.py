"""Batches of sends with placeholders: recipients are grouped by the number of segments of their message.

So all messages of a batch have the same price, and messages times price is exact for each batch. A batch stores the
values of its recipients, from which a worker composes the texts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

SEGMENTS: Final = "LEAST(s.segments, b.segments)"
"""SQL: segments of each message of a batch `b` of a send `s`. With placeholders the batch has its own number, and the
send has the maximum; otherwise the batch has null, which LEAST ignores."""
PRICE: Final = "LEAST(s.price, b.segments)"
"""SQL: credits for each message of a batch `b` of a send `s`."""


class ComposedRecipient(NamedTuple):
    """A recipient whose message is valid: the position in the list, and the values for the text."""

    position: int
    phone: str
    segments: int
    variables: Mapping[str, str]


@dataclass(slots=True)
class Chunk:
    """The recipients of a new batch, in order."""

    segments: int
    positions: list[int] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    variables: list[Mapping[str, str]] = field(default_factory=list)

    def parts(self, sets: Iterable[Iterable[int]]) -> "list[Chunk]":
        """A chunk for each set of positions."""
        return [
            Chunk(
                self.segments,
                [self.positions[each] for each in own],
                [self.phones[each] for each in own],
                [self.variables[each] for each in own],
            )
            for own in map(list, sets)
        ]


def chunks_of(recipients: Iterable[ComposedRecipient], size: int) -> list[Chunk]:
    """The recipients in chunks of at most `size`, each of messages with the same number of segments."""
    chunks: list[Chunk] = []
    open_chunks: dict[int, Chunk] = {}
    for recipient in recipients:
        chunk = open_chunks.get(recipient.segments)
        if chunk is None or len(chunk.phones) == size:
            chunk = open_chunks[recipient.segments] = Chunk(recipient.segments)
            chunks.append(chunk)
        chunk.positions.append(recipient.position)
        chunk.phones.append(recipient.phone)
        chunk.variables.append(recipient.variables)
    return chunks
