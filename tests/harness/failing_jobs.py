"""Lets workers retry failed jobs at once."""

from sqlalchemy import Engine, text


def end_backoff(engine: Engine) -> int:
    """All jobs that are not set aside may be tried again. Returns how many had failed."""
    with engine.begin() as connection:
        return connection.execute(text("UPDATE job_failure SET retry_at = now() WHERE retry_at < 'infinity'")).rowcount
