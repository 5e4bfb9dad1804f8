"""A send that is checked and priced but not yet accepted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate, islice
from typing import Any
from uuid import UUID

import orjson

from api.idempotency import Key
from shared.encryption import PLAIN, Texts
from shared.ids import new_batch_id, new_id, prefix_of, rfc3339
from shared.lifecycle import LANES, Category
from shared.sends.batch_states import BATCH_SIZE
from shared.sends.placeholder_batches import Chunk
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
    request_id: str | None = None
    """The request's id, if it is logged."""
    traceparent: str | None = None
    """The W3C traceparent of the request's span, if it is traced."""
    phones: list[str] = field(default_factory=list)
    submitted: int = 1
    rejected: list[dict[str, object]] = field(default_factory=list)
    rules: Rules | None = None
    group_id: UUID | None = None
    group_bound: int | None = None
    on_unicode: str | None = None
    """The request's `on_unicode`, if the texts differ by recipient."""
    chunks: list[Chunk] | None = None
    """The batches of a list, if the texts differ by recipient."""
    max_total_segments: int | None = None
    """Upper bound of the segments of all messages to a group, if the texts differ by recipient."""
    incomplete: int = 0
    """Contacts of the group that lack a placeholder's value."""
    sizes: list[int] | None = None
    """Recipients of each batch, unless all batches but the last are full."""
    key: Key | None = None
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
        if self.sizes is not None:
            count = len(self.sizes)
        else:
            count = -(-len(self.phones) // BATCH_SIZE) if self.chunks is None else len(self.chunks)
        self.batch_ids = [new_batch_id() for _ in range(count)]

    def split_by_zone(self) -> None:
        """Split the recipients into other batches, each in one time zone."""
        if self.chunks is not None:
            self.chunks = [part for chunk in self.chunks for part in chunk.parts(by_zone(chunk.phones))]
        else:
            zones = by_zone(self.phones)
            self.phones = [self.phones[position] for positions in zones for position in positions]
            self.sizes = [
                min(BATCH_SIZE, len(positions) - start)
                for positions in zones
                for start in range(0, len(positions), BATCH_SIZE)
            ]
        self._make_batch_ids()

    @property
    def accepted(self) -> int:
        """Number of messages."""
        return len(self.phones) if self.group_id is None else self.submitted - self.incomplete

    @property
    def price(self) -> int:
        """Credits for one message; the maximum if messages differ. One segment is one credit."""
        return self.segmentation.count

    @property
    def cost(self) -> int:
        """Credits to reserve."""
        return self.segments

    @property
    def segments(self) -> int:
        """Segments of all messages; an upper bound for a group whose messages differ."""
        if self.max_total_segments is not None:
            return self.max_total_segments
        if self.chunks is not None:
            return sum(len(chunk.phones) * chunk.segments for chunk in self.chunks)
        return self.accepted * self.segmentation.count

    @property
    def stored_message(self) -> str:
        """The message as stored: encrypted if text encryption is on."""
        return self.texts.seal(self.message, self.id)

    def stored_variables(self) -> Iterator[str]:
        """The placeholder values of each batch as stored, in JSON."""
        values = (chunk.variables for chunk in self.chunks or ())
        return (self.texts.seal_json(each, batch) for batch, each in zip(self.batch_ids, values, strict=True))

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
        if self.sizes is not None:
            ends = list(accumulate(self.sizes))
            return ((self.phones[end - size : end], count) for end, size in zip(ends, self.sizes, strict=True))
        return ((self.phones[start : start + BATCH_SIZE], count) for start in range(0, len(self.phones), BATCH_SIZE))

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

    def response_body(self, balance: int) -> str:
        """The body of the 200 response; `balance` is the remaining credits."""
        return encode(self._single(balance) if self.kind == "single" else self._bulk(balance))

    def _single(self, balance: int) -> dict[str, Any]:
        return {
            "send_id": self.id,
            "message_id": f"{prefix_of(self.batch_ids[0])}0001",
            "status": self.state,
            "sender_id": self.sender_id,
            "phone": self.phones[0],
            "segments": {
                "count": self.segmentation.count,
                "encoding": self.segmentation.encoding,
                "characters": self.segmentation.characters,
            },
            "cost": self.cost,
            "balance": balance,
            **self._common(),
        }

    def _bulk(self, balance: int) -> dict[str, Any]:
        response = {
            "send_id": str(self.id),
            "status": self.state,
            "sender_id": self.sender_id,
            "group_id": self.group_id and str(self.group_id),
            "counts": self.counts(),
            "segments": self.segments_response(),
            "cost": self.cost,
            "balance": balance,
            "rejected": self.rejected[:MAX_INLINE_ENTRIES],
            "messages": list(self._messages()),
            "messages_url": f"/api/v1/sends/{self.id}/messages",
            **self._common(),
        }
        if max(len(self.rejected), self.incomplete) > MAX_INLINE_ENTRIES:
            response["rejected_truncated"] = True
        if self.accepted > MAX_INLINE_ENTRIES or self.group_id is not None:
            response["messages_truncated"] = True
        return response

    def segments_response(self) -> dict[str, Any]:
        """The `segments` of a response; `per_message` is None if messages differ."""
        differ = self.max_total_segments is not None or len({segments for _, segments in self.slices()}) > 1
        return {
            "per_message": None if differ else self.segmentation.count,
            "encoding": self.segmentation.encoding,
            "total": self.segments,
        }

    def _messages(self) -> Iterator[dict[str, str]]:
        if self.chunks is not None:
            message_ids = {
                position: f"{prefix_of(batch)}{index:04x}"
                for batch, chunk in zip(self.batch_ids, self.chunks, strict=True)
                for index, position in enumerate(chunk.positions, 1)
                if position < MAX_INLINE_ENTRIES
            }
            for position, phone in enumerate(self.phones[:MAX_INLINE_ENTRIES]):
                yield {"message_id": message_ids[position], "phone": phone}
        elif self.sizes is not None:
            slices = zip(self.batch_ids, self.slices(), strict=True)
            named = ((batch, index, phone) for batch, (phones, _) in slices for index, phone in enumerate(phones, 1))
            for batch, index, phone in islice(named, MAX_INLINE_ENTRIES):
                yield {"message_id": f"{prefix_of(batch)}{index:04x}", "phone": phone}
        elif self.batch_ids:
            prefix = prefix_of(self.batch_ids[0])
            for index, phone in enumerate(self.phones[:MAX_INLINE_ENTRIES], 1):
                yield {"message_id": f"{prefix}{index:04x}", "phone": phone}

    def _common(self) -> dict[str, Any]:
        return {
            "category": str(self.category),
            "reference": self.reference,
            "send_at": rfc3339(self.send_at) if self.send_at else None,
            "expires_at": rfc3339(self.expires_at),
            "test": self.test,
            **({"simulated": True} if self.simulated else {}),
            "created_at": rfc3339(self.created_at),
        }


def encode(value: Any) -> str:
    """Compact JSON."""
    return orjson.dumps(value).decode()
