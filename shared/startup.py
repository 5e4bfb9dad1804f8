"""What a process does before it begins: wait for its database, and see that both were made for each other."""

import logging
import time

from sqlalchemy import Engine

from shared.db.connection import is_outage
from shared.db.encryption_keys import check_text_keys
from shared.db.schema import wait_for_schema

log = logging.getLogger(__name__)


def wait_for_database(engine: Engine, seconds: float = 60.0) -> None:
    """Wait until the database answers, has the schema of this code, and its texts can be read with our keys.

    A database that goes away meanwhile is waited for again. Raises WrongSchema or WrongTextKeys.
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
