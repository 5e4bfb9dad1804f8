"""An inbound message as received from a carrier."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Coded(NamedTuple):
    """A part of a text before it is decoded. A part may begin or end within a character, as phones split anywhere."""

    octets: bytes
    charset: str
    """As shared/sms/charsets.py names it."""

    def __repr__(self) -> str:
        """Show the size, not the content."""
        return f"Coded({len(self.octets)} octets, {self.charset})"


@dataclass(frozen=True, slots=True)
class Inbound:
    """An inbound message, or a part of one. The repr omits phone and text."""

    phone: str = field(repr=False)
    """The sender's number, as the carrier writes it; shared/inbound/senders.py reads it."""
    sent_to: str = field(repr=False)
    """The number that it was sent to, as formatted by the carrier."""
    text: str = field(repr=False)
    """The text, or that of the part by itself."""
    reference: int | None = None
    """The reference that all parts of a long message share; None for a message in one part."""
    total: int = 1
    number: int = 1
    """Number of the part, from 1."""
    coded: Coded | None = None
    """What the part adds to the octets of the text; None if it adds its text."""
    identity: str | None = None
    """The carrier's id, if any; prevents storing the same message twice."""
    national: bool | None = None
    """Whether the carrier says that `phone` is a national number; None if it does not say whether."""
