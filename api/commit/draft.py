"""A send that is checked and priced but not yet accepted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection

from api.idempotency import Key
from shared.carriers.smpp.raw_part import RawPart
from shared.encryption import PLAIN, Texts
from shared.ids import new_batch_id, new_id, prefix_of
from shared.lifecycle import LANES, Category
from shared.sends.batch_prices import Chunk
from shared.sends.batch_states import BATCH_SIZE
from shared.sends.quiet_hours import by_zone
from shared.sends.rules import Rules
from shared.sms.segments import Segmentation

MAX_INLINE_ENTRIES = 1000
"""Entries of a list included in the response itself. Of rejected recipients, no more are stored."""


@dataclass(slots=True)
class Draft:
    """A send before its commit, with everything that its rows and its response contain."""

    account_id: int
    api_key_id: str
    test: bool
    kind: str
    sender_id: str
    message: str
    segmentation: Segmentation
    category: Category
    created_at: datetime
    expires_at: datetime
    send_at: datetime | None = None
    simulated: bool = False
    """Whether the installation has only the simulated carrier."""
    reference: str | None = None
    metadata: dict[str, Any] | None = None
    rate: int | None = None
    callback_url: str | None = None
    dlr_mask: int | None = None
    """The statuses that the `callback_url` gets, by GET, of a send by Kannel's API."""
    over_smpp: dict[str, Any] | None = None
    """Of a submit over SMPP: its `registered` delivery, user message `reference`, and regulators' `tlvs`."""
    part: RawPart | None = None
    """What is passed on as it came, instead of the message."""
    request_id: str | None = None
    """The request's id, if it is logged."""
    traceparent: str | None = None
    """The W3C traceparent of the request's span, if it is traced."""
    phones: list[str] = field(default_factory=list)
    references: list[str | None] | None = None
    """The recipients' own references, in the order of `phones`, if any has one."""
    submitted: int = 1
    rejected: list[dict[str, object]] = field(default_factory=list)
    rules: Rules | None = None
    group_id: UUID | None = None
    group_bound: int | None = None
    on_unicode: str | None = None
    """The request's `on_unicode`, if the texts differ by recipient."""
    chunks: list[Chunk] | None = None
    """The batches of a list, if they differ by text, price or time zone."""
    price_version_id: int | None = None
    """The prices of the send; None: one credit per segment."""
    segment_price: int = 1
    """Credits for a segment; the most if prices differ."""
    by_country: dict[str, tuple[int, int]] | None = None
    """Messages and credits by country, if prices differ. Of a group, what they cost at most."""
    max_cost: int | None = None
    """Upper bound of the credits for all messages to a group, if the texts or prices differ by recipient."""
    max_total_segments: int | None = None
    """Upper bound of the segments of all messages to a group, if the texts differ by recipient."""
    incomplete: int = 0
    """Contacts of the group that lack a placeholder's value, or a price."""
    key: Key | None = None
    verification_id: UUID | None = None
    also: "Callable[[Connection, Draft], str] | None" = None
    """Writes what belongs to the send, in its transaction and before it. Returns the response to the request."""
    response: str | None = None
    """The response, if it is not that of a send."""
    texts: Texts = PLAIN
    """Encrypts the texts for storage, or leaves them plain."""
    id: UUID = field(default_factory=new_id)
    batch_ids: list[UUID] = field(default_factory=list)
    lane: int = field(init=False)
    """The category's lane in the fair queue."""

    def __post_init__(self) -> None:
        self.lane = LANES.index(self.category)
        self._make_batch_ids()

    def _make_batch_ids(self) -> None:
        count = -(-len(self.phones) // BATCH_SIZE) if self.chunks is None else len(self.chunks)
        self.batch_ids = [new_batch_id() for _ in range(count)]

    def split_by_zone(self) -> None:
        """Split the recipients into other batches, each in one time zone."""
        all_phones = Chunk(self.segmentation.count, self.price, list(range(len(self.phones))), self.phones)
        chunks = [all_phones] if self.chunks is None else self.chunks
        self.chunks = [part for chunk in chunks for part in chunk.parts(by_zone(chunk.phones), BATCH_SIZE)]
        self._make_batch_ids()

    @property
    def accepted(self) -> int:
        """Number of messages."""
        return len(self.phones) if self.group_id is None else self.submitted - self.incomplete

    @property
    def price(self) -> int:
        """Credits for one message; the most that one may cost if messages differ."""
        return self.segmentation.count * self.segment_price

    @property
    def messages_differ(self) -> bool:
        """Whether messages differ by their text or by what a segment costs, so that batches have their own price."""
        return self.on_unicode is not None or self.by_country is not None

    @property
    def cost(self) -> int:
        """Credits to reserve."""
        if self.max_cost is not None:
            return self.max_cost
        if self.chunks is not None:
            return sum(len(chunk.phones) * chunk.price for chunk in self.chunks)
        return self.accepted * self.price

    @property
    def segments(self) -> int:
        """Segments of all messages; an upper bound for a group whose messages differ."""
        if self.max_total_segments is not None:
            return self.max_total_segments
        if self.chunks is not None:
            return sum(len(chunk.phones) * chunk.segments for chunk in self.chunks)
        return self.accepted * self.segmentation.count

    @property
    def long_message(self) -> tuple[int, int] | None:
        """The reference and number of parts of the message that it is a part of, to one phone."""
        return None if self.part is None or self.kind != "single" else self.part.long_message

    @property
    def stored_message(self) -> str:
        """The message as stored: encrypted if text encryption is on."""
        return self.texts.seal(self.message, self.id)

    @property
    def smpp(self) -> dict[str, Any] | None:
        """How it came over SMPP, as stored: a part is encrypted if text encryption is on."""
        if self.part is None or self.over_smpp is None:
            return self.over_smpp
        return {**self.over_smpp, "part": orjson.loads(self.texts.seal_json(self.part.as_json(), self.id))}

    def own_prices(self) -> Iterator[tuple[int | None, int, str | None]]:
        """Of each batch, if messages differ: segments of each and its price; and the placeholder values as stored, in
        JSON. The first and the last are None unless texts differ."""
        for batch, chunk in zip(self.batch_ids, self.chunks or (), strict=True):
            if chunk.variables is None:
                yield None, chunk.price, None
            else:
                yield chunk.segments, chunk.price, self.texts.seal_json(chunk.variables, batch)

    @property
    def state(self) -> str:
        """The send's initial state."""
        if self.send_at is not None:
            return "scheduled"
        return "queued" if self.group_id is None else "expanding"

    def rejected_as(self, code: str) -> int:
        """The number of recipients rejected with the code."""
        return sum(entry["code"] == code for entry in self.rejected)

    def slices(self) -> Iterator[tuple[list[str], int]]:
        """The phones of each batch, and the segments of each of its messages."""
        if self.chunks is not None:
            return ((chunk.phones, chunk.segments) for chunk in self.chunks)
        count = self.segmentation.count
        return ((self.phones[start : start + BATCH_SIZE], count) for start in range(0, len(self.phones), BATCH_SIZE))

    def own_references(self) -> Iterator[tuple[str, str]]:
        """The message id and the reference of each recipient that has one."""
        chunks = self.chunks or ()
        places = chain.from_iterable(chunk.positions for chunk in chunks) if chunks else iter(range(len(self.phones)))
        for batch, (phones, _) in zip(self.batch_ids, self.slices(), strict=True):
            for index, place in zip(range(1, len(phones) + 1), places, strict=False):
                if self.references and (reference := self.references[place]) is not None:
                    yield f"{prefix_of(batch)}{index:04x}", reference

    def counts(self) -> dict[str, int]:
        """Recipients counted by whether and why they were rejected."""
        duplicate = self.rejected_as("duplicate")
        suppressed = sum(map(self.rejected_as, ("suppressed", "destination_not_allowed", "recipient_limit")))
        return {
            "submitted": self.submitted,
            "accepted": self.accepted,
            "duplicate": duplicate,
            "invalid": self.incomplete or len(self.rejected) - duplicate - suppressed,
            "suppressed": suppressed,
        }


def encode(value: Any) -> str:
    """Compact JSON."""
    return orjson.dumps(value).decode()
