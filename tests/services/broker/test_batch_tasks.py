"""Every batch has its task, which Celery's own tools see."""

from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from shared.settings import Settings
from shared.task_queue import make_celery
from tests.harness.house import STEADY, House, house, wait_until

pytestmark = pytest.mark.slow
FIRST_PHONE = 254_711_000_000


def celery_of(service: House) -> Celery:
    url = service.redis.url
    return make_celery(Settings(database_url="x", redis_url=url, broker_url=url, secret_key="x" * 40))


def batches_of(service: House, send: str) -> set[str]:
    with service.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT id::text FROM batch WHERE send_id = %s", (send,))
        return set(rows.scalars())


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
