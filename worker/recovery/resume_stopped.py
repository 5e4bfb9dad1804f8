"""Resumes batches that are paused or held although their send goes on.

No change leaves any behind: these are of processes of 0.2.0. With many open sends, to find them takes a second, so this
is part of the housekeeping.
"""

from sqlalchemy import Engine

from shared.db.connection import transaction
from shared.sends import batch_states, fair_queueing
from shared.sends.requeue import requeue_batches


def resume_stopped(engine: Engine) -> None:
    """Queue up to a thousand of them, or let them wait for their time."""
    with transaction(engine) as connection:
        clock = fair_queueing.clock(connection)
        batches = connection.execute(batch_states.RESUME_STOPPED_ALONE).scalars().all()
        if batches:
            requeue_batches(connection, batches, clock)
