"""Worker processes of the product, with nothing replaced but what makes them wait."""

from dataclasses import dataclass, field

from sqlalchemy import Engine

from shared.settings import Settings
from tests.simulation.carrier import ModelCarrier
from tests.simulation.tasks import Task, stand
from worker.sending.dispatch import Dispatcher
from worker.sweeper import Sweeper


class Stop:
    """A `threading.Event` whose wait lets others run."""

    def __init__(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        """Whether the process shall stop."""
        return self._set

    def set(self) -> None:
        """Ask the process to stop."""
        self._set = True

    def wait(self, timeout: float | None = None) -> bool:
        """Let others run."""
        stand("wait")
        return self._set


@dataclass(slots=True)
class Process:
    """One worker process: its turns share what they remember, and die together."""

    dispatcher: Dispatcher
    sweeper: Sweeper
    stop: Stop
    tasks: list[Task] = field(default_factory=list)
    paused: bool = False

    def count(self, name: str) -> int:
        """Tasks of that name under way."""
        return sum(task.name.startswith(name) for task in self.tasks)


def new_process(engine: Engine, live: ModelCarrier, simulator: ModelCarrier, settings: Settings) -> Process:
    """A process that has just started."""
    dispatcher = Dispatcher(engine, live, simulator, settings)
    stop = Stop()
    dispatcher.stop = stop  # type: ignore[assignment]
    return Process(dispatcher, Sweeper(engine, dispatcher, settings), stop)
