"""What a carrier gives us of a message from a phone."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Inbound:
    """A message from a phone, or a part of one. Its repr holds neither phone nor text."""

    phone: str = field(repr=False)
    recipient: str = field(repr=False)
    """The number that it was sent to, as the carrier writes it."""
    text: str = field(repr=False)
    """Of a part, perhaps with half a surrogate pair at either end: phones cut where they like."""
    reference: int | None = None
    """The same in all parts of a long message; None for a message in one part."""
    total: int = 1
    number: int = 1
    """The part's, from 1."""
    identity: str | None = None
    """The carrier's own id of it, where it has one: the same message is then never kept twice."""
