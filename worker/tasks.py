"""The Celery tasks. A task is a turn, not an assignment: it names a batch, and the worker takes what is next."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from celery import Celery

from shared.task_queue import IMPORT_CONTACTS, SEND_BATCH


def _nothing() -> None:
    """There are no imports here."""


def register(
    app: Celery,
    work: Callable[[], int],
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
    imports: Callable[[], object] = _nothing,
) -> None:
    """Make the application's tasks call `work`, which takes turns until nothing waits, within `around()`.

    `imports` is called where a doorbell tells of an import.
    """

    @app.task(name=SEND_BATCH, ignore_result=True, shared=False)
    def send_batch(batch_id: str) -> None:
        """Somebody queued this batch: take turns until nothing waits."""
        with around():
            work()

    @app.task(name=IMPORT_CONTACTS, ignore_result=True, shared=False)
    def import_contacts(import_id: str) -> None:
        """Somebody uploaded this file of contacts."""
        with around():
            imports()
