"""Batches of sends whose messages differ: recipients are grouped by the segments and the price of their message.

So all messages of a batch have the same price, and messages times price is exact for each batch. A batch of a text with
placeholders stores the values of its recipients, from which a worker composes the texts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

SEGMENTS: Final = "coalesce(b.segments, s.segments)"
"""SQL: segments of each message of a batch `b` of a send `s`. With placeholders the batch has its own number, and the
send has the maximum."""
PRICE: Final = "coalesce(b.price, s.price)"
"""SQL: credits for each message of a batch `b` of a send `s`. If texts or prices differ the batch has its own price,
and the send has the maximum."""


class ComposedRecipient(NamedTuple):
    """A recipient whose message is valid: the position in the list, what it costs, and the values for the text."""

    position: int
    phone: str
    segments: int
    price: int
    """Credits for the message."""
    variables: Mapping[str, str]


@dataclass(slots=True)
class Chunk:
    """The recipients of a new batch, in order."""

    segments: int
    price: int
    """Credits for each message."""
    positions: list[int] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    variables: list[Mapping[str, str]] | None = None
    """What the placeholders stand for; None if the text has none."""

    def parts(self, sets: Iterable[Sequence[int]], size: int) -> "list[Chunk]":
        """A chunk for each set of positions, or several of at most `size`."""
        return [
            Chunk(
                self.segments,
                self.price,
                [self.positions[each] for each in own],
                [self.phones[each] for each in own],
                None if self.variables is None else [self.variables[each] for each in own],
            )
            for positions in sets
            for own in (positions[start : start + size] for start in range(0, len(positions), size))
        ]


def chunks_by_price(phones: list[str], segments: int, positions: Mapping[int, Sequence[int]], size: int) -> list[Chunk]:
    """The phones in chunks of at most `size`, each of one price. `positions` are by the price of a segment."""
    whole = Chunk(segments, 0, list(range(len(phones))), phones)
    chunks = []
    for price, own in positions.items():
        whole.price = price * segments
        chunks += whole.parts([own], size)
    return chunks


def chunks_of(recipients: Iterable[ComposedRecipient], size: int) -> list[Chunk]:
    """The recipients in chunks of at most `size`, each of messages with the same number of segments and price."""
    chunks: list[Chunk] = []
    open_chunks: dict[tuple[int, int], Chunk] = {}
    for recipient in recipients:
        key = recipient.segments, recipient.price
        chunk = open_chunks.get(key)
        if chunk is None or len(chunk.phones) == size:
            chunk = open_chunks[key] = Chunk(*key, variables=[])
            chunks.append(chunk)
        chunk.positions.append(recipient.position)
        chunk.phones.append(recipient.phone)
        assert chunk.variables is not None
        chunk.variables.append(recipient.variables)
    return chunks
