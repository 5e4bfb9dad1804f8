"""Each batch has its task: when it is made, when it is due, and when it goes again."""

from collections.abc import Iterable, Iterator
from uuid import UUID

import pytest
from celery.signals import task_prerun

from api.commit import draft
from shared.settings import Settings
from shared.task_publisher import TaskPublisher
from shared.task_queue import SEND_BATCH, make_celery
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.jobs import expand as expansion
from worker.jobs import expand_page

MANY = 40


class Published(TaskPublisher):
    """Keeps what would be published."""

    def __init__(self) -> None:
        super().__init__(make_celery(Settings(database_url="x", redis_url="x", broker_url="memory://", secret_key="x")))
        self.batches: list[UUID] = []
        self.singles: list[UUID] = []

    def publish(self, batches: Iterable[UUID]) -> None:
        self.batches += batches

    def publish_single(self, batch: UUID) -> None:
        self.singles.append(batch)


@pytest.fixture
def published(service: Service) -> Iterator[Published]:
    """What the workers publish."""
    service.worker.sweeper.work.tasks = made = Published()
    yield made
    service.worker.sweeper.work.tasks = None


@pytest.fixture
def tasks() -> Iterator[list[tuple[str, str, list[str]]]]:
    """The name, id and arguments of each task that runs."""
    seen: list[tuple[str, str, list[str]]] = []

    def keep(task_id: str, task: object, args: Iterable[str], **_: object) -> None:
        seen.append((task.name, task_id, list(args)))  # type: ignore[attr-defined]

    task_prerun.connect(keep, weak=False)
    yield seen
    task_prerun.disconnect(keep)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "BATCH_SIZE", 2)
    monkeypatch.setattr(expand_page, "BATCH_SIZE", 2)
    monkeypatch.setattr(expansion, "PAGE", 16)


def phones(count: int, first: int = 254_722_000_000) -> list[str]:
    return [str(first + number) for number in range(count)]


def batches(service: Service, send: str) -> list[UUID]:
    return list(service.scalars("SELECT id FROM batch WHERE send_id = :send ORDER BY turn", send=send))


def set_due(service: Service, send: str) -> None:
    service.execute("UPDATE send SET send_at = now() WHERE id = :id", id=send)
    service.execute("UPDATE batch SET due_at = now() WHERE send_id = :id", id=send)


@pytest.mark.usefixtures("small_batches")
def test_each_batch_of_a_group_has_its_task_when_it_is_made(
    service: Service, published: Published, tasks: list[tuple[str, str, list[str]]]
) -> None:
    group = service.new_group(phones(2 * MANY, 255_790_000_000))
    response = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    send = response.json["send_id"]
    assert tasks == [(SEND_BATCH, send, [send])]
    assert len(published.batches) == MANY
    assert set(published.batches) == set(batches(service, send))


@pytest.mark.usefixtures("small_batches")
def test_scheduled_batches_have_their_tasks_when_they_are_due(
    service: Service, published: Published, tasks: list[tuple[str, str, list[str]]]
) -> None:
    of_list = service.bulk(phones(2 * MANY, 254_733_000_000), send_at=ahead()).json["send_id"]
    alone = service.send(send_at=ahead()).json["send_id"]
    group = service.new_group(phones(2, 255_780_000_000))
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi", "send_at": ahead()}
    of_group = service.post("/sms/send-group", **body).json["send_id"]
    service.worker.sweeper.recover_and_wake()
    assert not tasks and not published.batches
    for send in (of_list, alone, of_group):
        set_due(service, send)
    service.worker.sweeper.recover_and_wake()
    assert sorted(published.batches) == sorted([*batches(service, of_list), UUID(of_group)])
    assert published.singles == batches(service, alone)
    service.worker.sweeper.recover_and_wake()
    assert len(published.batches) == MANY + 1, "once"


@pytest.mark.usefixtures("small_batches")
def test_batches_that_go_again_have_another_task(service: Service, published: Published) -> None:
    send = service.bulk(phones(6, 254_744_000_000), send_at=ahead()).json["send_id"]
    waits, left_behind, _ = batches(service, send)
    service.execute("UPDATE send SET state = 'sending', send_at = now() WHERE id = :id", id=send)
    service.execute("UPDATE batch SET state = 'waiting', due_at = now() WHERE id = :id", id=waits)
    lost = """
        UPDATE batch SET state = 'sending', epoch = 1, intent = 2, watermark = 0, lease_until = now(),
                         database_started = pg_postmaster_start_time()
         WHERE id = :id
        """
    service.execute(lost, id=left_behind)
    service.worker.sweeper.recover_and_wake()
    assert published.batches == [left_behind, waits]
