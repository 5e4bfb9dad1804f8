"""What the consumer does with an entry of the queue that is no task."""

from collections.abc import Iterator

import pytest

from shared.settings import Settings
from shared.task_queue import make_celery
from worker.broker.consumer import PersistentConsumer

SETTINGS = Settings(database_url="x", redis_url="x", broker_url="redis://127.0.0.1:1", secret_key="x")


class Controller:
    """A worker without an event loop."""

    use_eventloop = False


class Pool:
    """A pool of one thread."""

    num_processes, is_green = 1, False


@pytest.fixture
def consumer() -> Iterator[PersistentConsumer]:
    app = make_celery(SETTINGS)
    with app.connection_for_read() as connection:
        made = PersistentConsumer(lambda request: None, app=app, controller=Controller(), pool=Pool())
        made.connection = connection
        yield made


@pytest.mark.filterwarnings("ignore::celery.exceptions.CPendingDeprecationWarning")
@pytest.mark.parametrize(("error", "looks"), [(ValueError("no task"), 1), (ConnectionResetError("gone"), 0)])
def test_the_worker_looks_for_messages_where_an_entry_may_have_been_a_task(
    consumer: PersistentConsumer, monkeypatch: pytest.MonkeyPatch, error: Exception, looks: int
) -> None:
    looked: list[None] = []
    monkeypatch.setattr(PersistentConsumer, "look_for_messages", staticmethod(lambda: looked.append(None)))
    consumer.on_connection_error_after_connected(error)
    assert len(looked) == looks
