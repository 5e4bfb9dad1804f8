"""The opt-out list, looked at once more at the moment of hand-off."""

import time
from datetime import UTC, datetime

from sqlalchemy import Engine, text

from shared.database import reading
from shared.lifecycle import LANES
from shared.suppressions import listed
from worker.slices import Slice

FRESH = 1.0
"""Seconds for which it is remembered that an account has nobody on its list."""

ANY = text("SELECT DISTINCT account_id FROM suppression WHERE account_id = ANY(:accounts)")


class Suppressions:
    """Drops messages to phones that have opted out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._empty_until: dict[int, float] = {}

    def drop(self, slices: list[Slice]) -> None:
        """Give every message to a suppressed phone its result: rejected, not charged, never submitted."""
        now = time.monotonic()
        accounts = {piece.account_id for piece in slices if self._empty_until.get(piece.account_id, 0.0) < now}
        if not accounts:
            return
        with reading(self._engine) as connection:
            having = set(connection.execute(ANY, {"accounts": sorted(accounts)}).scalars())
            self._empty_until = dict.fromkeys(accounts - having, now + FRESH) | {
                account: until for account, until in self._empty_until.items() if until > now
            }
            for piece in slices:
                if piece.account_id in having:
                    phones = [int(phone) for phone in piece.phones]
                    _reject(piece, listed(connection, piece.account_id, phones, LANES[piece.lane], piece.sender_id))


def _reject(piece: Slice, suppressed: set[int]) -> None:
    if not suppressed:
        return
    now = str(datetime.now(UTC))
    for place, phone in enumerate(piece.phones):
        if int(phone) in suppressed:
            piece.reject(place, "suppressed", now)
