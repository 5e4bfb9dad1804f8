"""Product code in threads of its own, of which one runs at a time. The scheduler decides which, and where it ends.

A task runs until it yields: before each transaction, at each crash point, and where it would wait. There the scheduler
lets another go on, leaves it for later, or kills it.
"""

import threading
from collections.abc import Callable


class Killed(BaseException):
    """The process died here. No product code catches it; an open transaction is rolled back, as the database would."""


class Task:
    """One thread of a process."""

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self.name = name
        self.where = "begin"
        """The yield that it stands at."""
        self.done = False
        self.error: BaseException | None = None
        self._work = work
        self._killed = False
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def inside(self) -> bool:
        """Whether it stands inside a transaction. Nobody else may run before that has ended: it holds locks."""
        return not self.done and (self.where.endswith(".before_commit") or self.where.startswith("copy."))

    def step(self) -> None:
        """Let it run to its next yield, or to its end."""
        if self.where == "begin":
            self.where = "begun"
            self._thread.start()
        self._go.release()
        self._back.acquire()

    def kill(self) -> None:
        """Let it die where it stands."""
        if self.where == "begin":
            self.done = True
        if not self.done:
            self._killed = True
            self.step()

    def stand(self, where: str) -> None:
        """In the task's own thread: give way to the scheduler."""
        self.where = where
        self._back.release()
        self._go.acquire()
        if self._killed:
            raise Killed

    def _run(self) -> None:
        _here.task = self
        self._go.acquire()
        try:
            self._work()
        except Killed:
            pass
        except BaseException as error:
            self.error = error
        self.done = True
        self._back.release()


_here = threading.local()


def running() -> Task | None:
    """The task whose thread this is; None in the scheduler's own."""
    return getattr(_here, "task", None)


def stand(where: str) -> None:
    """Yield. Outside of a task this does nothing."""
    task = running()
    if task is not None:
        task.stand(where)
