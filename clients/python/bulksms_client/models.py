"""Responses of the service. Fields that this version does not know are left out; all are in `raw`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

FINAL = frozenset({"delivered", "undelivered", "failed", "rejected", "expired", "canceled"})
"""The final statuses of a message."""
ENDED = frozenset({"completed", "canceled"})
"""Statuses of a send in which nothing is left to hand over."""


@dataclass(frozen=True, slots=True)
class Response:
    """The base of all responses."""

    raw: Mapping[str, Any]
    """The response as received."""

    @classmethod
    def of(cls, response: Mapping[str, Any]) -> Self:
        """The response, read from JSON."""
        return cls(raw=response, **{each.name: response[each.name] for each in fields(cls) if each.name != "raw"})


@dataclass(frozen=True, slots=True)
class SentOne(Response):
    """An accepted message: stored and paid for."""

    send_id: str
    message_id: str
    status: str
    phone: str
    cost: int
    balance: int


@dataclass(frozen=True, slots=True)
class SentMany(Response):
    """An accepted send to a list or a group."""

    send_id: str
    status: str
    counts: Mapping[str, int]
    rejected: list[Mapping[str, Any]]
    cost: int
    balance: int


@dataclass(frozen=True, slots=True)
class Message(Response):
    """One SMS to one phone, and where it is."""

    message_id: str
    send_id: str
    phone: str | None
    status: str
    error: Mapping[str, Any] | None
    """Why it did not arrive: `code`, `permanent`, `carrier`, `carrier_code` and `text`."""
    cost: int
    reference: str | None

    @property
    def is_final(self) -> bool:
        """Whether its status is final."""
        return self.status in FINAL


@dataclass(frozen=True, slots=True)
class Send(Response):
    """An accepted request, and what has become of it."""

    send_id: str
    status: str
    counts: Mapping[str, int]
    cost: int
    charged: int
    reference: str | None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to hand over; receipts may still come."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Balance(Response):
    """Credits: what can be spent, and what is reserved for messages that are on their way."""

    balance: int
    reserved: int
