"""The counters of a simulated SMSC, and optionally a line for each submit."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TextIO

from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import Malformed, read_message

Watch = Callable[[bytes, str, str], None]
"""Called for each submit_sm with its body, its message id (or ""), and the outcome.

The outcome is `accepted`, `lost` (accepted but not answered), `silent` (neither), or the name of the error. The body is
not parsed yet and may be malformed.
"""


@dataclass(slots=True)
class Counts:
    """Counters since the start."""

    binds: int = 0
    refused_binds: int = 0
    connections: int = 0
    """Open connections."""
    submits: int = 0
    accepted: int = 0
    """Accepted and answered."""
    lost: int = 0
    """Accepted but never answered."""
    throttled: int = 0
    refused: int = 0
    duplicates: int = 0
    """Accepted again: same destination and text (or user_message_reference)."""
    malformed: int = 0
    drops: int = 0
    garbage: int = 0
    receipts_sent: int = 0
    receipts_answered: int = 0
    receipts_refused: int = 0
    """Answered with an error, and delivered again."""
    receipts_waiting: int = 0
    """Not delivered or not answered yet."""
    inbound: int = 0
    """Messages from phones, counted by part."""
    inbound_answered: int = 0


@dataclass(slots=True)
class Records:
    """The counters, and the accepted messages, each identified by destination and content."""

    counts: Counts = field(default_factory=Counts)
    watch: Watch | None = None
    began: float = field(default_factory=time.monotonic)
    taken: set[int] = field(default_factory=set)
    """Hashes of the accepted messages."""

    def take(self, destination_and_text: bytes) -> None:
        """Note an accepted message."""
        key = hash(destination_and_text)
        if key in self.taken:
            self.counts.duplicates += 1
        else:
            self.taken.add(key)

    def as_json(self) -> dict[str, float]:
        """The counters, and the seconds since the start."""
        return {**asdict(self.counts), "seconds": round(time.monotonic() - self.began, 3)}


class Journal:
    """A `Watch` that writes a line for each submit_sm, its fields divided by tabs:

    time, destination, source, hash of the octets of text and header, data_coding, esm_class, id, outcome, and the
    octets of the optional parameter `tag` in hexadecimal.
    """

    def __init__(self, file: TextIO, tag: int | None = None) -> None:
        self._file = file
        self._tag = tag

    def __call__(self, body: bytes, identity: str, outcome: str) -> None:
        try:
            message = read_message(Command.SUBMIT_SM, body)
        except Malformed:
            self._file.write(f"{time.time():.6f}\t\t\t\t\t\t{identity}\t{outcome}\t\n")
            return
        digest = hashlib.blake2b(message.short_message, digest_size=8).hexdigest()
        own = message.tlvs.get(self._tag, b"").hex() if self._tag is not None else ""
        self._file.write(
            f"{time.time():.6f}\t{message.destination}\t{message.source}\t{digest}\t{message.data_coding}\t"
            f"{message.esm_class}\t{identity}\t{outcome}\t{own}\n"
        )

    def flush(self) -> None:
        """Flush the file."""
        self._file.flush()
