"""Ends the pauses before workers retry failed jobs, or makes them last."""

from datetime import timedelta

from sqlalchemy import Engine, text

from shared.job_backoff import AHEAD, PAUSE

LONG = timedelta(hours=1)


def prolong_pauses(engine: Engine) -> None:
    """Date the failures as far AHEAD as they count, so that pauses last for a minute or until `end_pauses`."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE job_failure SET failed_at = now() + :ahead"), {"ahead": AHEAD})


def end_pauses(engine: Engine, pause: timedelta = PAUSE) -> None:
    """Jobs that have not failed themselves may be tried again."""
    ended = text("UPDATE job_failure SET failed_at = least(failed_at, now()) - :pause")
    with engine.begin() as connection:
        connection.execute(ended, {"pause": pause})


def end_backoff(engine: Engine) -> int:
    """All jobs that are not set aside may be tried again. Returns how many had failed."""
    end_pauses(engine)
    with engine.begin() as connection:
        return connection.execute(text("UPDATE job_failure SET retry_at = now() WHERE retry_at < 'infinity'")).rowcount
