"""After a small cycle the dispatcher waits for more messages, as a cycle has a fixed cost."""

import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine

from api.commit.commit import commit_sends
from bulksms.local.postgres import Postgres
from shared.accounts.administration import create_account
from shared.accounts.top_ups import top_up
from tests.harness.database import fresh_database
from tests.harness.drafts import single
from tests.services.sending.test_paced_sends import taking
from worker.sending import dispatch
from worker.sending.claimed_batch import claimed_all

GATHER = 1_000.0
SLOW = 500.0
"""Of the wait, so much may have passed when it begins: nobody is slower."""
SMALL_CYCLE = 60


class Stop(threading.Event):
    """Notes for how long it is waited for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return self.is_set()


@pytest.fixture
def engine(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(dispatch, "GATHER_SECONDS", GATHER)
    monkeypatch.setattr(dispatch, "MAX_GATHER_SECONDS", 2 * GATHER)
    monkeypatch.setattr(dispatch, "SMALL_CYCLE", SMALL_CYCLE)
    engine = fresh_database(postgres_server)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    ("messages", "workers", "waits"),
    [(3, 1, 1), (3, 2, 2), (3, 5, 2), (SMALL_CYCLE, 1, 0), (0, 1, 0)],
    ids=["few", "few of two workers", "few of five workers", "many", "none"],
)
def test_the_next_cycle_waits_after_a_small_one(engine: Engine, messages: int, workers: int, waits: int) -> None:
    _, dispatcher = taking(engine)
    dispatcher.live_workers.workers = workers
    dispatcher.stop = stop = Stop()
    dispatcher._batch_size = 1.0  # as after a cycle of single sends
    with engine.begin() as connection:
        account = create_account(connection, "gathering")
        top_up(connection, account, 100, "test", "first")
    send(engine, account, messages)
    assert dispatcher.run_cycle() == bool(messages)
    send(engine, account, 1)
    assert dispatcher.run_cycle()
    assert stop.waits[0] == 0
    assert 0 <= waits * GATHER - stop.waits[1] < SLOW


@pytest.mark.parametrize(("segments", "taken", "waits"), [(1, 20, 1), (2, 20, 0), (1, 10, 0)])
def test_it_does_not_wait_while_more_is_queued(segments: int, taken: int, waits: int) -> None:
    """A cycle that used up its budget, or took a part of a batch, is followed at once."""
    batch = SimpleNamespace(indexes=list(range(taken)), segments=segments, left=20)
    assert claimed_all([batch], 40) == bool(waits)  # type: ignore[list-item]


def send(engine: Engine, account: int, messages: int) -> None:
    if messages:
        with engine.begin() as connection:
            commit_sends(connection, [single(account) for _ in range(messages)])
