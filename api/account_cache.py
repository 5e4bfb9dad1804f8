"""A cache of account data that every send needs, with entries that live for a few seconds."""

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, exists, or_, select

from api.event_loop import in_background, is_on_event_loop
from shared.accounts.category_rules import list_rules
from shared.db.connection import reading
from shared.db.tables.accounts import account, sender_id
from shared.db.tables.contacts import suppression
from shared.db.tables.messages import erasure
from shared.sends.rules import Rules

MAX_ENTRIES = 50_000
GRACE_SECONDS = 0.5
"""Seconds for which an expired value is still served while one thread refreshes it: if all threads refreshed at once,
they would exhaust the connection pool."""

Entry = tuple[float, float, Any]
"""When a value expires, until when it is served at most, and the value."""

SENDER_STATE = (
    select(
        sender_id.c.state,
        sender_id.c.reason,
        or_(sender_id.c.authentication, account.c.authentication).label("authentication"),
    )
    .join(account, account.c.id == sender_id.c.account_id)
    .where(sender_id.c.account_id == bindparam("account"), sender_id.c.sender_id == bindparam("sender"))
)
HAS_SUPPRESSIONS = select(
    or_(
        exists().where(suppression.c.account_id == bindparam("account")),
        exists().where(erasure.c.account_id == bindparam("account"), erasure.c.completed_at.is_(None)),
    )
)


class AccountCache:
    """Account data from memory while it is fresh, otherwise from the database. Nothing that affects money is cached.

    The return types of nested functions are quoted so that they are not evaluated at each call.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._values: dict[tuple[Any, ...], Entry] = {}

    def sender_state(self, account: int, sender: str) -> "tuple[str, str | None, bool] | None":
        """A sender ID's state, the reason for it, and whether it may be used for `authentication`; None if the account
        has not registered it. At most two seconds old."""

        def query() -> "tuple[str, str | None, bool] | None":
            with reading(self._engine) as connection:
                row = connection.execute(SENDER_STATE, {"account": account, "sender": sender}).one_or_none()
                return None if row is None else (row.state, row.reason, row.authentication)

        state: tuple[str, str | None, bool] | None = self._get(("sender", account, sender), 1.5, query)
        return state

    def has_suppressions(self, account: int) -> bool:
        """Whether any phone has opted out of the account's messages, or is being erased. At most 1.5 seconds old;
        workers check the suppressions again before submitting."""

        def query() -> bool:
            with reading(self._engine) as connection:
                return bool(connection.execute(HAS_SUPPRESSIONS, {"account": account}).scalar())

        return bool(self._get(("suppressions", account), 1.0, query))

    def rules(self, account: int) -> dict[str, Rules]:
        """The account's default rules for its sends, by category. At most five seconds old."""

        def query() -> "dict[str, Rules]":
            with reading(self._engine) as connection:
                return _rules_of_account(connection, account)

        rules: dict[str, Rules] = self._get(("rules", account), 4.5, query)
        return rules

    def _get(self, key: tuple[Any, ...], ttl: float, query: Callable[[], Any]) -> Any:
        now = time.monotonic()
        cached = self._values.get(key)
        if cached is not None:
            expires, served_until, value = cached
            if expires > now:
                return value
            if served_until > now:
                self._values[key] = (served_until, served_until, value)
                if is_on_event_loop():
                    in_background(lambda: self._refresh(key, cached, ttl, query))
                    return value
        return self._refresh(key, cached, ttl, query)

    def _refresh(self, key: tuple[Any, ...], cached: Entry | None, ttl: float, query: Callable[[], Any]) -> Any:
        try:
            value = query()
        except BaseException:
            if cached is not None:
                self._values[key] = cached  # expired, so the next caller tries again
            raise
        if len(self._values) >= MAX_ENTRIES:
            self._values.clear()
        expires = time.monotonic() + ttl
        self._values[key] = (expires, expires + GRACE_SECONDS, value)
        return value


def _rules_of_account(connection: Connection, account_id: int) -> dict[str, Rules]:
    """The account's default rules, by category."""
    by_category: dict[str, Rules] = {}
    for row in list_rules(connection, account_id):
        rules: Rules = {}
        if row.quiet_from is not None:
            rules["quiet"] = [row.quiet_from, row.quiet_until]
        if row.cap_messages is not None:
            rules["cap"] = [row.cap_messages, row.cap_hours]
        by_category[row.category] = rules
    return by_category
