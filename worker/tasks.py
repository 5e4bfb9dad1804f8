"""The Celery tasks. A task is a turn, not an assignment: it names a batch, and the worker takes what is next."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from celery import Celery

from shared.queue import SEND_BATCH


def register(
    app: Celery, work: Callable[[], int], around: Callable[[], AbstractContextManager[object]] = nullcontext
) -> None:
    """Make the application's tasks call `work`, which takes turns until nothing waits, within `around()`."""

    @app.task(name=SEND_BATCH, ignore_result=True, shared=False)
    def send_batch(batch_id: str) -> None:
        """Somebody queued this batch: take turns until nothing waits."""
        with around():
            work()
