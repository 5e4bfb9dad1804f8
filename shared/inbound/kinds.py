"""An inbound message as received from a carrier."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Inbound:
    """An inbound message, or a part of one. The repr omits phone and text."""

    phone: str = field(repr=False)
    """The sender's number, as the carrier writes it; shared/inbound/senders.py reads it."""
    sent_to: str = field(repr=False)
    """The number that it was sent to, as formatted by the carrier."""
    text: str = field(repr=False)
    """The text; that of a part may begin or end with half a surrogate pair, as phones split anywhere."""
    reference: int | None = None
    """The reference that all parts of a long message share; None for a message in one part."""
    total: int = 1
    number: int = 1
    """Number of the part, from 1."""
    identity: str | None = None
    """The carrier's id, if any; prevents storing the same message twice."""
    national: bool | None = None
    """Whether the carrier says that `phone` is a national number; None if it does not say whether."""
