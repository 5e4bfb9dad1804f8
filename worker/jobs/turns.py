"""Accounts take turns with background jobs: however many jobs one has waiting, the next account waits for one of them.

A turn is committed before its job begins, so several workers serve several accounts, and a job that fails has had its
turn.
"""

from uuid import UUID

from sqlalchemy import Column, ColumnElement, Engine, Select, and_, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from shared.db.connection import transaction
from shared.db.tables.running import job_turn
from shared.job_backoff import JobKind, is_ready, yields

__all__ = ["next_in_turn", "take_turn"]

TAKE_TURN = (
    insert(job_turn)
    .values(kind=bindparam("job_kind"), account_id=bindparam("account"), taken_at=func.clock_timestamp())
    .on_conflict_do_update(index_elements=["kind", "account_id"], set_={"taken_at": func.clock_timestamp()})
)


def next_in_turn(
    kind: JobKind,
    job: Column[UUID],
    account: Column[int],
    waits: ColumnElement[bool],
    since: Column[object],
) -> Select[UUID, int]:
    """A statement that locks the next job: that of the account whose last turn is longest ago, or that had none.

    Jobs that have failed are tried after the others.

    `job` and `account` are the columns of the ids, `waits` says which jobs wait, and the jobs of an account are ordered
    by `since`.
    """
    turns = job.table.outerjoin(job_turn, and_(job_turn.c.kind == kind, job_turn.c.account_id == account))
    return (
        select(job.label("id"), account.label("account_id"))
        .select_from(turns)
        .where(waits, is_ready(kind, job))
        .order_by(yields(kind, job), job_turn.c.taken_at.nulls_first(), since)
        .limit(1)
        .with_for_update(of=job.table, skip_locked=True)
    )


def take_turn(engine: Engine, kind: JobKind, statement: Select[UUID, int]) -> UUID | None:
    """Take the turn of an account by a statement of `next_in_turn`. Returns its job; None if none waits."""
    with transaction(engine, durable=False) as connection:
        found = connection.execute(statement).one_or_none()
        if found is None:
            return None
        connection.execute(TAKE_TURN, {"job_kind": kind, "account": found.account_id})
    return UUID(str(found.id))
