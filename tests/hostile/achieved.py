"""What an attack must not have achieved, beside what the victim felt."""

from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Engine, text

from shared.settings import RECIPIENT_LIMITS
from tests.hostile.churn import AT, END, ONE_PHONE

MOST_TO_ONE_PHONE = sum(RECIPIENT_LIMITS)
IN_A_WINDOW = 0.5
"""Seconds after an opt-out was accepted within which the window that was on its way then is handed over."""
TO_PHONE = text("SELECT count(*) FROM simulated_submit WHERE phone = :phone")
AFTER = text(
    """
    SELECT count(*), max(extract(epoch FROM at)) FROM simulated_submit
     WHERE phone >= :first AND phone < :first + :count AND at > to_timestamp(:accepted)
    """
)


def achieved(engine: Engine, did: Counter[str]) -> list[str]:
    """What it must not have achieved, if it did anything of the kind."""
    return [*_flooded(engine), *_late(engine, did)]


def latest_after_opt_outs(engine: Engine, did: Counter[str]) -> tuple[int, float]:
    """How many messages were handed over after the opt-out of their phone was accepted, and by how many seconds."""
    count, latest = 0, 0.0
    for name, milliseconds in did.items():
        if name.startswith(AT):
            first, accepted = int(name.removeprefix(AT)), milliseconds / 1000
            with engine.connect() as connection:
                row = connection.execute(AFTER, {"first": first, "count": END, "accepted": accepted}).one()
            if row[0]:
                count, latest = count + row[0], max(latest, float(row[1]) - accepted)
    return count, latest


def _flooded(engine: Engine) -> Iterator[str]:
    with engine.connect() as connection:
        count = connection.execute(TO_PHONE, {"phone": ONE_PHONE}).scalar_one()
    if count > MOST_TO_ONE_PHONE:
        yield f"one phone got {count} messages within an hour, and {MOST_TO_ONE_PHONE} are allowed"


def _late(engine: Engine, did: Counter[str]) -> Iterator[str]:
    count, latest = latest_after_opt_outs(engine, did)
    if latest > IN_A_WINDOW:
        yield f"{count} messages were handed over after the opt-out of their phone, up to {latest:.2f} s"
