"""What a claim reads: the head of the queue, however many sends there are."""

import pytest
from sqlalchemy import Connection, TextClause, text

from api.commit import commit_sends
from shared.accounts import create_account, top_up
from shared.lifecycle import Category
from tests.drafts import single
from worker.claim import CANDIDATE, CANDIDATE_OWED

SENDS = 3_000
ENDED = text("UPDATE batch SET state = 'done', next_index = size + 1 WHERE id NOT IN (SELECT id FROM batch LIMIT 1000)")


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize(
    ("statement", "category", "index"),
    [
        (CANDIDATE, Category.TRANSACTIONAL, "ix_batch_turn"),
        (CANDIDATE_OWED, Category.AUTHENTICATION, "ix_batch_authentication"),
    ],
    ids=["next", "owed"],
)
def test_a_claim_reads_the_head_of_the_queue(
    connection: Connection, statement: TextClause, category: Category, index: str, analyzed: bool
) -> None:
    """Not the sends that have ended, and not the rest of the queue: with statistics or before there are any."""
    account = create_account(connection, "plan")
    top_up(connection, account, SENDS, "plan", "test")
    commit_sends(connection, [single(account, 254700000000 + number, category) for number in range(SENDS)])
    connection.execute(ENDED)
    for setting in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin"):  # as a worker's sessions have it
        connection.execute(text(f"SET LOCAL {setting} = off"))
    if analyzed:
        connection.execute(text("ANALYZE batch, send, account"))
    plan = connection.execute(
        text(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {statement.text}"), {"candidates": 20}
    ).scalars()
    told = "\n".join(plan)
    assert index in told and "Sort" not in told, told
