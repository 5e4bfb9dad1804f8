"""The Celery tasks. A batch's task only signals that there is work: workers claim batches in fair order."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from celery import Celery

from shared.task_queue import EXPAND_SEND, IMPORT_CONTACTS, SEND_BATCH


def _nothing() -> None:
    """Do nothing: this worker does not import."""


def register(
    app: Celery,
    work: Callable[[], object],
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
    imports: Callable[[], object] = _nothing,
) -> None:
    """Register the tasks. They call `work`, which runs cycles until nothing waits, within `around()`.

    The task of an import calls `imports`.
    """

    @app.task(name=SEND_BATCH, ignore_result=True, shared=False)
    def send_batch(*batch_ids: str) -> None:
        """Send: these batches were queued."""
        with around():
            work()

    @app.task(name=EXPAND_SEND, ignore_result=True, shared=False)
    def expand_send(send_id: str) -> None:
        """Expand and send: a group send was accepted."""
        with around():
            work()

    @app.task(name=IMPORT_CONTACTS, ignore_result=True, shared=False)
    def import_contacts(import_id: str) -> None:
        """Import: a file of contacts was uploaded."""
        with around():
            imports()
