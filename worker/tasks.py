"""The Celery tasks. Each batch has one, which says that there is work: a worker takes what is next in fair order."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from celery import Celery

from shared.task_queue import EXPAND_SEND, IMPORT_CONTACTS, SEND_BATCH


def _nothing() -> None:
    """There are no imports here."""


def register(
    app: Celery,
    work: Callable[[], object],
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
    imports: Callable[[], object] = _nothing,
) -> None:
    """Make the application's tasks call `work`, which takes turns until nothing waits, within `around()`.

    `imports` is called for the task of an import.
    """

    @app.task(name=SEND_BATCH, ignore_result=True, shared=False)
    def send_batch(*batch_ids: str) -> None:
        """These batches were queued: take turns until nothing waits."""
        with around():
            work()

    @app.task(name=EXPAND_SEND, ignore_result=True, shared=False)
    def expand_send(send_id: str) -> None:
        """A send to a group was accepted: the same, which makes its batches."""
        with around():
            work()

    @app.task(name=IMPORT_CONTACTS, ignore_result=True, shared=False)
    def import_contacts(import_id: str) -> None:
        """Somebody uploaded this file of contacts."""
        with around():
            imports()
