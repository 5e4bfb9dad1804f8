"""A child process given by its command line."""

from collections.abc import Callable, Mapping
from pathlib import Path

from bulksms.local.process import Process, parent_death_signal


class Command(Process):
    """Run a command. `is_ready` checks whether it is ready; by default it is ready at once."""

    def __init__(
        self,
        name: str,
        command: list[str],
        env: Mapping[str, str],
        log_file: Path,
        cwd: Path,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(name, log_file)
        self.command = command
        self._env = dict(env)
        self._cwd = cwd
        self._is_ready = is_ready

    def launch(self) -> None:
        self._spawn([*parent_death_signal(self.stop_signal), *self.command], self._env, self._cwd)

    def ready(self) -> bool:
        return self.exit_code() is None and self._is_ready()
