"""Identifiers: UUID version 7 (RFC 9562 §5.7), ordered by time; and times as the API writes them.

A message id is derived, not stored. The last 16 bits of a batch id are zero, and the id of the message at `index` (1 to
65,535) of the batch has the index in them. So a message has an id before it has a row, clearing 16 bits gives the id of
its batch, and a table keyed by message id is ordered by time.

>>> batch = new_batch_id()
>>> batch_of(message_id(batch, 7)) == batch, index_of(message_id(batch, 7))
(True, 7)
"""

import os
import struct
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import overload
from uuid import UUID

import orjson

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INDEX_BITS = 0xFFFF
FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)
"""The ids before and after all others."""
LAST_NUMBER = 2**63 - 1
"""After all ids that are numbers."""

_CHUNK = 256
_random: deque[int] = deque()
os.register_at_fork(after_in_child=_random.clear)


def random_bits() -> int:
    """64 random bits from the system, fetched in chunks because each fetch releases the GIL."""
    try:
        return _random.popleft()
    except IndexError:
        fetched = struct.unpack(f"{_CHUNK}Q", os.urandom(8 * _CHUNK))
        _random.extend(fetched[1:])
        return int(fetched[0])


def new_id(at: float | None = None) -> UUID:
    """A new version 7 UUID. `at` is seconds since the epoch; without it, now."""
    return UUID(int=_version_7(time.time_ns() if at is None else int(at * 1e9)))


def new_batch_id() -> UUID:
    """A new id whose last 16 bits are zero, so that message ids can be derived from it."""
    return UUID(int=_version_7(time.time_ns()) & ~_INDEX_BITS)


def _version_7(nanoseconds: int) -> int:
    milliseconds, remainder = divmod(nanoseconds, 1_000_000)
    fraction = remainder * 4096 // 1_000_000  # 12 bits of sub-millisecond time, RFC 9562 §6.2 method 3
    return milliseconds << 80 | 7 << 76 | fraction << 64 | 2 << 62 | random_bits() >> 2


def message_id(batch_id: UUID, index: int) -> UUID:
    """The id of the message at `index` (from 1) of the batch."""
    return UUID(int=batch_id.int | index)


def batch_of(message: UUID) -> UUID:
    """The id of the batch that a message belongs to."""
    return UUID(int=message.int & ~_INDEX_BITS)


def index_of(message: UUID) -> int:
    """The index of a message in its batch, from 1; 0 for the id of the batch itself."""
    return message.int & _INDEX_BITS


def prefix_of(batch_id: UUID) -> str:
    """The batch id as text without its last 4 digits: `prefix + f"{index:04x}"` is a message id."""
    return orjson.dumps(batch_id)[1:-5].decode()  # several times faster than str()


def time_of(identifier: UUID) -> datetime:
    """The time in an id, UTC, to the millisecond."""
    return datetime.fromtimestamp((identifier.int >> 80) / 1000, UTC)


def first_id_at(at: datetime) -> UUID:
    """The smallest id of that time, for comparing ids with a time range. Times before 1970 count as 1970."""
    return UUID(int=(max(at, EPOCH) - EPOCH) // timedelta(milliseconds=1) << 80)


class MessageIds(Sequence[UUID]):
    """The ids of the messages at `indexes` of a batch, created on access."""

    def __init__(self, batch_id: UUID, indexes: Sequence[int]) -> None:
        self.batch_id = batch_id
        self.indexes = indexes

    def __len__(self) -> int:
        return len(self.indexes)

    @overload
    def __getitem__(self, index: int) -> UUID: ...
    @overload
    def __getitem__(self, index: slice) -> "MessageIds": ...
    def __getitem__(self, index: int | slice) -> "UUID | MessageIds":
        if isinstance(index, slice):
            return MessageIds(self.batch_id, self.indexes[index])
        return UUID(int=self.batch_id.int | self.indexes[index])


def rfc3339(moment: datetime) -> str:
    """A time by RFC 3339: in UTC, to the millisecond, with `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
