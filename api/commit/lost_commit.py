"""A commit whose connection is lost may have taken effect, and a client that is told to send again would send twice. So
it is repeated until that is known: the ids of a send are stored only once."""

import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Engine, bindparam, select

from api.commit.draft import Draft
from api.commit.send_response import response_body
from api.idempotency import IdempotentResponse
from shared.db.connection import is_outage_or_timeout, reading
from shared.db.errors import may_be_committed
from shared.db.tables.accounts import account
from shared.db.tables.sends import send

CERTAIN_SECONDS, PAUSE_SECONDS = 10.0, 0.2
"""For how long, and how often, a commit is repeated."""

STORED = (
    select(send.c.id, account.c.available + account.c.credit_limit)
    .join(account, account.c.id == send.c.account_id)
    .where(send.c.id.in_(bindparam("ids", expanding=True)))
)
Outcome = TypeVar("Outcome")


def commit_once(commit: Callable[[], Outcome], read: Callable[[], Outcome | None]) -> Outcome:
    """Commit, or `read` what a commit whose connection was lost has stored, if anything. Raises that commit's error if
    this is still unknown after CERTAIN_SECONDS."""
    lost: Exception | None = None
    until = 0.0
    while True:
        try:
            try:
                return commit()
            except Exception as error:
                if lost is None or is_outage_or_timeout(error) or not (stored := read()):
                    raise
                return stored
        except Exception as error:
            if lost is None and may_be_committed(error):
                lost, until = error, time.monotonic() + CERTAIN_SECONDS
            elif lost is None or not is_outage_or_timeout(error):
                raise
            elif time.monotonic() > until:
                raise lost from None
        time.sleep(PAUSE_SECONDS)


def responses_of_stored(engine: Engine, drafts: list[Draft]) -> dict[UUID, IdempotentResponse]:
    """The responses of those drafts that are stored, by id, with the present balance."""
    with reading(engine) as connection:
        balances = {row[0]: row[1] for row in connection.execute(STORED, {"ids": [draft.id for draft in drafts]})}
    return {
        draft.id: IdempotentResponse(response_body(draft, balances[draft.id]))
        for draft in drafts
        if draft.id in balances
    }
