"""What the API remembers of the database for a second or two, because every send would ask for it."""

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, text

from api.commit.rules import rules_of_account
from api.http.event_loop import in_background
from api.http.request import is_on_event_loop
from shared.db.connection import reading
from shared.sends.rules import Rules

MOST = 50_000
LATE = 0.5
"""Seconds for which what is over may still be answered while one thread asks again: all at once would take the
database's connections from each other."""

SENDER_STATE = text(
    """
    SELECT s.state, s.reason, s.authentication OR a.authentication AS authentication
      FROM sender_id s JOIN account a ON a.id = s.account_id
     WHERE s.account_id = :account AND s.sender_id = :sender
    """
)
HAS_SUPPRESSIONS = text("SELECT EXISTS (SELECT FROM suppression WHERE account_id = :account)")


class Remembered:
    """Answers from memory while they are fresh, else from the database. Nothing that money depends on is here.

    What its functions within functions return is said in quotes, so that it is not made anew at each call.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._values: dict[tuple[Any, ...], tuple[float, Any]] = {}

    def sender_state(self, account: int, sender: str) -> "tuple[str, str | None, bool] | None":
        """An account's sender ID: its state, the reason, and whether it may be used for `authentication`; None when it
        is not registered. Two seconds old at most."""

        def ask() -> "tuple[str, str | None, bool] | None":
            with reading(self._engine) as connection:
                row = connection.execute(SENDER_STATE, {"account": account, "sender": sender}).one_or_none()
                return None if row is None else (row.state, row.reason, row.authentication)

        state: tuple[str, str | None, bool] | None = self._get(("sender", account, sender), 1.5, ask)
        return state

    def has_suppressions(self, account: int) -> bool:
        """Whether anybody has opted out from the account. A second and a half old at most; the hand-off looks again."""

        def ask() -> bool:
            with reading(self._engine) as connection:
                return bool(connection.execute(HAS_SUPPRESSIONS, {"account": account}).scalar())

        return bool(self._get(("suppressions", account), 1.0, ask))

    def rules(self, account: int) -> dict[str, Rules]:
        """What the account's sends bring along by themselves, by category. Five seconds old at most."""

        def ask() -> "dict[str, Rules]":
            with reading(self._engine) as connection:
                return rules_of_account(connection, account)

        rules: dict[str, Rules] = self._get(("rules", account), 4.5, ask)
        return rules

    def _get(self, key: tuple[Any, ...], fresh: float, ask: Callable[[], Any]) -> Any:
        now = time.monotonic()
        known = self._values.get(key)
        if known is not None:
            until, value = known
            if until > now:
                return value
            if until + LATE > now:
                self._values[key] = (now + LATE, value)
                if is_on_event_loop():
                    in_background(lambda: self._ask(key, known, fresh, ask))
                    return value
        return self._ask(key, known, fresh, ask)

    def _ask(self, key: tuple[Any, ...], known: tuple[float, Any] | None, fresh: float, ask: Callable[[], Any]) -> Any:
        try:
            value = ask()
        except BaseException:
            if known is not None:
                self._values[key] = known  # so that the next one asks
            raise
        if len(self._values) >= MOST:
            self._values.clear()
        self._values[key] = (time.monotonic() + fresh, value)
        return value
