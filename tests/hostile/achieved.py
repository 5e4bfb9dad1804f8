"""What an attack must not have achieved, beside what the victim felt."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Engine, text

from bulksms.local.services import API_PROCESSES
from shared.settings import DEFAULTS
from tests.hostile.churn import AT, END, ONE_PHONE

MOST_TO_ONE_PHONE = API_PROCESSES * sum(DEFAULTS.recipient_limits)
"""In one burst, each process of the API lets its own limit pass: they add up their counts a moment later."""
IN_A_WINDOW = 0.5
"""Seconds after an opt-out was accepted within which the window that was on its way then is handed over."""
TO_PHONE = text("SELECT count(*) FROM simulated_submit WHERE phone = :phone")
AFTER = text(
    """
    SELECT count(*), max(extract(epoch FROM at)) FROM simulated_submit
     WHERE phone >= :first AND phone < :first + :count AND at > to_timestamp(:accepted)
    """
)


class Late(NamedTuple):
    """Messages handed over after the opt-out of their phone was accepted, and by how many seconds at most."""

    messages: int
    seconds: float


def late(engine: Engine, did: Counter[str]) -> Late | None:
    """What came late after the opt-outs of an attack; None if there were none."""
    rows = []
    for name, milliseconds in did.items():
        if name.startswith(AT):
            accepted = milliseconds / 1000
            with engine.connect() as connection:
                row = connection.execute(
                    AFTER, {"first": int(name.removeprefix(AT)), "count": END, "accepted": accepted}
                ).one()
            rows.append((row[0], float(row[1]) - accepted if row[0] else 0.0))
    return Late(sum(count for count, _ in rows), max(seconds for _, seconds in rows)) if rows else None


def achieved(engine: Engine, late: Late | None) -> Iterator[str]:
    """What it must not have achieved."""
    with engine.connect() as connection:
        count = connection.execute(TO_PHONE, {"phone": ONE_PHONE}).scalar_one()
    if count > MOST_TO_ONE_PHONE:
        yield f"one phone got {count} messages within an hour, and {MOST_TO_ONE_PHONE} are allowed"
    if late is not None and late.seconds > IN_A_WINDOW:
        yield f"{late.messages} messages came after the opt-out of their phone, up to {late.seconds:.2f} s"
