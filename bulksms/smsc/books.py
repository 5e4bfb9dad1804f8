"""What a simulated SMSC has seen, in numbers and, where wanted, line by line."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TextIO

from shared.carriers.smpp.numbers import Command
from shared.carriers.smpp.pdu import Malformed, read_message

Watch = Callable[[bytes, str, str], None]
"""Called for each submit_sm: its body, the id it got (or ""), and `accepted`, `lost` or the name of the refusal.

`lost` is taken and not answered; `silent` neither. Its body is still unread: it may be malformed.
"""


@dataclass(slots=True)
class Counts:
    """Since the start."""

    binds: int = 0
    refused_binds: int = 0
    connections: int = 0
    """Open now."""
    submits: int = 0
    accepted: int = 0
    """Taken and answered."""
    lost: int = 0
    """Taken, and never answered."""
    throttled: int = 0
    refused: int = 0
    duplicates: int = 0
    """Taken, and the same destination and text (or user_message_reference) had been taken before."""
    malformed: int = 0
    drops: int = 0
    garbage: int = 0
    receipts_sent: int = 0
    receipts_answered: int = 0
    receipts_refused: int = 0
    """Answered with an error; they come again."""
    receipts_waiting: int = 0
    """Due or not answered yet."""
    inbound: int = 0
    """Messages from phones, and parts of them."""
    inbound_answered: int = 0


@dataclass(slots=True)
class Books:
    """Counts, and which messages were taken: a message is what follows its destination's digits, and those."""

    counts: Counts = field(default_factory=Counts)
    watch: Watch | None = None
    began: float = field(default_factory=time.monotonic)
    taken: set[int] = field(default_factory=set)
    """Hashes, as the messages themselves would not fit."""

    def take(self, destination_and_text: bytes) -> None:
        """A message is taken."""
        key = hash(destination_and_text)
        if key in self.taken:
            self.counts.duplicates += 1
        else:
            self.taken.add(key)

    def as_json(self) -> dict[str, float]:
        """The counts, and for how many seconds they were counted."""
        return {**asdict(self.counts), "seconds": round(time.monotonic() - self.began, 3)}


class Journal:
    """A `Watch` that writes a line for each submit_sm, its fields divided by tabs:

    time, destination, source, hash of the text's octets with their header, data_coding, esm_class, id, what became of
    it, and the octets of the vendor's parameter `tag` in hex.
    """

    def __init__(self, file: TextIO, tag: int | None = None) -> None:
        self._file = file
        self._tag = tag

    def __call__(self, body: bytes, identity: str, verdict: str) -> None:
        try:
            message = read_message(Command.SUBMIT_SM, body)
        except Malformed:
            self._file.write(f"{time.time():.6f}\t\t\t\t\t\t{identity}\t{verdict}\t\n")
            return
        digest = hashlib.blake2b(message.short_message, digest_size=8).hexdigest()
        own = message.tlvs.get(self._tag, b"").hex() if self._tag is not None else ""
        self._file.write(
            f"{time.time():.6f}\t{message.destination}\t{message.source}\t{digest}\t{message.data_coding}\t"
            f"{message.esm_class}\t{identity}\t{verdict}\t{own}\n"
        )

    def flush(self) -> None:
        """Bring what is written to the file."""
        self._file.flush()
