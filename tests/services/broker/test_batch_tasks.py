"""Every batch has its task, which Celery's own tools see, and which changes nothing when it comes again."""

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from redis import Redis

from shared.settings import Settings
from shared.task_publisher import TaskPublisher
from shared.task_queue import EXPAND_SEND, QUEUE, SEND_BATCH, make_celery
from tests.harness.house import STEADY, House, house, wait_until

pytestmark = pytest.mark.slow
WORKERS = 2
BATCHES = 34
FIRST_PHONE = 254_711_000_000
SENT_TWICE = "SELECT count(*) FROM (SELECT FROM simulated_submit GROUP BY phone HAVING count(*) > 1) s"


SITECUSTOMIZE = """
from shared import task_publisher
task_publisher.PUBLISH_SECONDS = 60.0
"""
"""Run by each process when it starts: it gives up no task because the broker stands still for a while."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder, more = tmp_path_factory.mktemp("tasks"), tmp_path_factory.mktemp("more")
    (more / "sitecustomize.py").write_text(SITECUSTOMIZE)
    settings = {"CELERY_REMOTE_CONTROL": "1", "PYTHONPATH": f"{more}{os.pathsep}{Path.cwd()}", **STEADY}
    with house(folder, workers=WORKERS, **settings) as made:
        yield made


@pytest.fixture
def celery(service: House) -> Celery:
    return celery_of(service)


def celery_of(service: House) -> Celery:
    url = service.redis.url
    return make_celery(Settings(database_url="x", redis_url=url, broker_url=url, secret_key="x" * 40))


@contextmanager
def events(celery: Celery) -> Iterator[dict[str, list[str]]]:
    """The ids of tasks by the kind of event, and of those that were received by the task's name too."""
    seen: dict[str, list[str]] = defaultdict(list)

    heard: set[str] = set()

    def keep(event: dict[str, Any]) -> None:
        heard.add(event["hostname"])
        seen[event["type"]].append(event.get("uuid", ""))
        if event["type"] == "task-received":
            seen[event["name"]].append(event["uuid"])

    with celery.connection_for_read() as connection:
        receiver = celery.events.Receiver(connection, handlers={"*": keep})
        thread = threading.Thread(target=receiver.capture, daemon=True)
        thread.start()

        def all_are_heard() -> bool:
            """A worker that does not listen to the broker yet gets no command."""
            celery.control.enable_events()
            return len(heard) == WORKERS

        wait_until(all_are_heard, 60, "the workers' events")
        try:
            yield seen
        finally:
            receiver.should_stop = True
            thread.join(30)


def batches_of(service: House, send: str) -> set[str]:
    with service.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT id::text FROM batch WHERE send_id = %s", (send,))
        return set(rows.scalars())


def ended(service: House, celery: Celery, seen: dict[str, list[str]]) -> None:
    """All is sent, and every task has ended."""
    service.wait_for_end(180)
    with Redis.from_url(service.redis.url) as client:
        wait_until(lambda: not client.llen(QUEUE), 60, "the queue's end")
    wait_until(lambda: len(seen["task-succeeded"]) == len(seen["task-received"]), 60, "the tasks' end")


def test_each_batch_of_a_list_and_of_a_group_has_its_task(service: House, celery: Celery) -> None:
    account = service.new_account("tasks")
    group = service.new_group(account, 9_500, first=255_700_000_000)
    with events(celery) as seen:
        phones = [str(FIRST_PHONE + number) for number in range(BATCHES * 1000 - 10)]
        of_list = service.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"]
        ended(service, celery, seen)
        of_group = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")["send_id"]
        ended(service, celery, seen)
        alone = service.post("/sms/send", sender_id="ACME", phone="254799000000", message="Hi")["send_id"]
        ended(service, celery, seen)
        wanted = [batches_of(service, send) for send in (of_list, of_group, alone)]
        assert [len(batches) for batches in wanted] == [BATCHES, 10, 1]
        wait_until(lambda: len(seen[SEND_BATCH]) == BATCHES + 11, 60, "the tasks")
        assert set(seen[SEND_BATCH]) == set().union(*wanted)
        assert seen[EXPAND_SEND] == [of_group]

        again = TaskPublisher(celery)
        for _ in range(3):
            again.publish([batch for batches in wanted for batch in batches])  # type: ignore[misc]
        wait_until(lambda: len(seen[SEND_BATCH]) == 4 * (BATCHES + 11), 60, "the tasks that came again")
        ended(service, celery, seen)
    assert service.scalar("SELECT count(*) FROM message") == service.scalar("SELECT count(*) FROM simulated_submit")
    assert not service.scalar(SENT_TWICE)


def test_inspect_finds_a_batch_by_its_id(tmp_path: Path) -> None:
    with house(tmp_path, workers=1, CELERY_REMOTE_CONTROL="1", SIMULATOR_RATE="100", **STEADY) as slow:
        slow.new_account()
        phones = [str(FIRST_PHONE + number) for number in range(5_000)]
        send = slow.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"]
        batches, inspect = batches_of(slow, send), celery_of(slow).control.inspect(timeout=2)

        def active() -> list[dict[str, Any]]:
            [tasks] = (inspect.active() or {"": []}).values()
            return [task for task in tasks if task["id"] in batches]

        wait_until(active, 60, "an active task of a batch")
        assert all(task["args"] == [task["id"]] for task in active())
        wait_until(lambda: batches & set(*(inspect.query_task(*batches) or {"": {}}).values()), 60, "a batch by its id")
        wait_until(lambda: inspect.reserved() is not None, 60, "an answer")
        slow.post(f"/sends/{send}/cancel")
        slow.wait_for_end(60)
