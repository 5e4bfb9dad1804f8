"""Resumes batches that are paused or held although their send goes on.

Only processes of release 0.2.0 leave such batches behind. Finding them takes a second if many sends are open, so this
is part of housekeeping.
"""

from sqlalchemy import Engine

from shared.db.connection import transaction
from shared.sends import batch_states, fair_queueing
from shared.sends.requeue import requeue_batches


def resume_stopped(engine: Engine) -> None:
    """Requeue up to a thousand of them; those that are not due yet wait for their time."""
    with transaction(engine) as connection:
        clock = fair_queueing.clock(connection)
        batches = connection.execute(batch_states.RESUME_STOPPED_ALONE).scalars().all()
        if batches:
            requeue_batches(connection, batches, clock)
