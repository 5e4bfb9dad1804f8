"""How much memory the service's own processes have: API, console, workers and webhooks, without Postgres and Redis."""

import contextlib
import threading

import psutil

from bulksms.local.command import Command
from tests.harness.house import House

LOOK = 0.2
"""Seconds between two looks."""


class Memory:
    """Looks how much memory the processes have, while its block runs."""

    def __init__(self, house: House, console: Command) -> None:
        self._house = house
        self._console = console
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory")
        self.most = 0

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def now(self) -> dict[str, int]:
        """Bytes by the name of what was started, with its children."""
        house = self._house
        commands = [each for each in (house.api, self._console, *house.workers, *house.webhooks) if each is not None]
        return {command.name: _bytes_of(command) for command in commands}

    def _run(self) -> None:
        while not self._over.wait(LOOK):
            self.most = max(self.most, sum(self.now().values()))


def _bytes_of(command: Command) -> int:
    size = 0
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(command.pid)
        for process in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.Error):  # it has ended
                size += process.memory_info().rss
    return size
