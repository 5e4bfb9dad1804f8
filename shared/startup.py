"""Startup checks of a process: waits for its database and verifies that schema and keys match."""

import logging
import time

from sqlalchemy import Engine

from shared.db.connection import is_outage
from shared.db.encryption_keys import check_text_keys
from shared.db.schema import IS_FINAL, WrongSchema, schema_problem

log = logging.getLogger(__name__)


def wait_for_database(engine: Engine, seconds: float = 60.0) -> None:
    """Wait until the database answers, has the schema of this release, and its texts can be decrypted with our keys.

    Raises WrongTextKeys; and WrongSchema if the database is newer than this release, refuses the connection, is behind
    a pooler without sessions, or is not migrated within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        problem = schema_problem(engine)
        if problem is None:
            try:
                check_text_keys(engine)
                return
            except Exception as error:
                if not is_outage(error):
                    raise
                problem = f"It went away: {type(error).__name__}"
        if problem.startswith(IS_FINAL) or time.monotonic() > deadline:
            raise WrongSchema(problem)
        log.info("waiting for the database: %s", problem)
        time.sleep(1)
