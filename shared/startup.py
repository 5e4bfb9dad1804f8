"""Startup checks of a process: waits for its database and verifies that schema and keys match."""

import logging
import time

from sqlalchemy import Engine

from shared.db.connection import is_outage
from shared.db.encryption_keys import check_text_keys
from shared.db.schema import wait_for_schema

log = logging.getLogger(__name__)


def wait_for_database(engine: Engine, seconds: float = 60.0) -> None:
    """Wait until the database answers, has the schema of this release, and its texts can be decrypted with our keys.

    Keeps waiting if the database goes away again. Raises WrongSchema or WrongTextKeys.
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
            log.info("lost the database during startup, waiting for it: %s", type(error).__name__)
            time.sleep(1)
