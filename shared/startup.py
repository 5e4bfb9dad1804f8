"""Prepares a process to start: waits for the database, and checks its schema and keys."""

import logging
import time

from sqlalchemy import Engine

from shared.db.connection import is_outage
from shared.db.encryption_keys import check_text_keys
from shared.db.schema import wait_for_schema

log = logging.getLogger(__name__)


def wait_for_database(engine: Engine, seconds: float = 60.0) -> None:
    """Wait until the database is available, has the schema of this release, and our keys match its texts.

    Keeps waiting if the database becomes unavailable again. Raises WrongSchema or WrongTextKeys.
    """
    deadline = time.monotonic() + seconds
    while True:
        wait_for_schema(engine, deadline - time.monotonic())
        try:
            check_text_keys(engine)
            return
        except Exception as error:
            if not is_outage(error) or time.monotonic() > deadline:
                raise
            log.info("waiting for the database, which went away: %s", type(error).__name__)
            time.sleep(1)
