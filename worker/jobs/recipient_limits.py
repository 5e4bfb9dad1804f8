"""Enforces recipient limits (messages per phone and hour) when a group is expanded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shared.accounts.limits import RECIPIENTS
from shared.sends.batch_prices import Chunk
from shared.sends.recipient_counts import RecipientCounts


@dataclass(frozen=True, slots=True)
class RecipientLimits:
    """This process's counts, and the installation's limits by lane."""

    counts: RecipientCounts
    of_installation: Sequence[int]

    def within(self, send: Row[Any], contacts: Sequence[Row[Any]]) -> Sequence[Row[Any]]:
        """The contacts that may get another message now. `send` has its account's limits. Changes no counts."""
        limit = self._limit(send)
        if not limit:
            return contacts
        phones = [str(contact.phone) for contact in contacts]
        over = self.counts.over(send.account_id, send.lane, phones, limit, unique=True)
        return [contact for index, contact in enumerate(contacts) if index not in over] if over else contacts

    def add(self, send: Row[Any], chunks: Sequence[Chunk]) -> None:
        """Count the messages of new batches, after their commit."""
        limit = self._limit(send)
        for chunk in chunks if limit else ():
            self.counts.add(send.account_id, send.lane, chunk.phones, limit)

    def _limit(self, send: Row[Any]) -> int:
        own = send._mapping[RECIPIENTS[send.lane]]
        return int(self.of_installation[send.lane] if own is None else own)
