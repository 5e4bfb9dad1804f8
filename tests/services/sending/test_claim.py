"""What a claim reads: the head of the queue, however many sends there are."""

import re

import pytest
from sqlalchemy import Connection, TextClause, text

from api.commit.commit import commit_sends
from bulksms.local.postgres import Postgres
from shared.accounts.administration import create_account
from shared.accounts.top_ups import top_up
from shared.lifecycle import Category
from tests.harness.database import fresh_database
from tests.harness.drafts import single
from worker.sending.next_batches import CANDIDATE, CANDIDATE_AUTHENTICATION
from worker.sending.record import RECORD_RESULTS
from worker.sending.results import FENCE
from worker.sending.settle_complete import RECORDED, SETTLE_COMPLETE, parameters_of

SENDS = 3_000
AS_A_WORKER = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
"""What a worker's sessions do without."""
ENDED = text("UPDATE batch SET state = 'done', next_index = size + 1 WHERE id NOT IN (SELECT id FROM batch LIMIT 1000)")


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize(
    ("statement", "category", "index"),
    [
        (CANDIDATE, Category.TRANSACTIONAL, "ix_batch_turn"),
        (CANDIDATE_AUTHENTICATION, Category.AUTHENTICATION, "ix_batch_authentication"),
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
    for setting in AS_A_WORKER:
        connection.execute(text(f"SET LOCAL {setting} = off"))
    if analyzed:
        connection.execute(text("ANALYZE batch, send, account"))
    plan = connection.execute(
        text(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {statement.text}"), {"candidates": 20}
    ).scalars()
    lines = "\n".join(plan)
    assert index in lines and "Sort" not in lines, lines


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("statement", [FENCE, RECORD_RESULTS, SETTLE_COMPLETE], ids=["fence", "record", "settle"])
def test_a_turn_finds_its_batches_by_their_ids(
    postgres_server: Postgres, statement: TextClause, analyzed: bool
) -> None:
    """Not among all that are being sent, which would cost as much as there are, for each."""
    engine = fresh_database(postgres_server)
    with engine.begin() as connection:
        account = create_account(connection, "plan")
        top_up(connection, account, SENDS, "plan", "test")
        drafts = [single(account, 254700000000 + number, Category.TRANSACTIONAL) for number in range(SENDS)]
        commit_sends(connection, drafts[:100])
    with engine.begin() as connection:
        if analyzed:
            connection.execute(text("ANALYZE batch, send"))  # when none was being sent, and there were few
        commit_sends(connection, drafts[100:])
        connection.execute(text("UPDATE batch SET state = 'sending', epoch = 1, intent = 1, watermark = 1"))
        for setting in AS_A_WORKER:
            connection.execute(text(f"SET LOCAL {setting} = off"))
        turn = [draft.batch_ids[0] for draft in drafts[:500]]
        lines = "\n".join(
            connection.execute(
                text(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {statement.text}"),
                parameters_of([], "simulator")
                | {"id": turn, "epoch": [1] * 500, "watermark": [1] * 500, "lease": 15, "opt_out_snapshot": None}
                | dict.fromkeys(RECORDED, [1] * 500)
                | {"batches": 500, "captured": [0] * 500, "released": [0] * 500},
            ).scalars()
        )
    engine.dispose()
    assert "pk_batch" in lines and "ix_batch" not in lines, lines
    [of_the_turn] = [line for line in lines.splitlines() if re.search(r" on (unnest )?w ", line)]
    assert "loops=1)" in of_the_turn, lines
