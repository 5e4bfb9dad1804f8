"""What each group of processes takes: processor time and memory."""

import os
import threading
from collections.abc import Callable

import psutil

Roots = Callable[[], dict[str, list[int]]]
"""The process ids that each group begins with; all that they started belongs to it too."""

SAMPLE_SECONDS = 0.5


class Meter:
    """Processor seconds on request, and the highest memory since it was last asked to begin anew."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._peaks: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)

    def start(self) -> None:
        """Begin to sample the memory."""
        self._thread.start()

    def stop(self) -> None:
        """Sample no more."""
        self._stop.set()
        self._thread.join()

    def cpu(self) -> dict[str, float]:
        """Processor seconds of each group since its start, those of its ended children included; `load` is ours."""
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return {**{name: sum(map(_cpu, _family(pids))) for name, pids in self._roots().items()}, "load": own}

    def memory(self) -> dict[str, float]:
        """MiB of each group now: what its processes have each for themselves, and the largest part that is shared."""
        return {name: _memory(pids) for name, pids in self._roots().items()}

    def begin(self) -> None:
        """Forget the peaks."""
        self._peaks = self.memory()

    def peaks(self) -> dict[str, float]:
        """The highest memory of each group, MiB, looked at twice a second."""
        self._note()
        return {name: round(value) for name, value in self._peaks.items()}

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._note()

    def _note(self) -> None:
        for name, value in self.memory().items():
            self._peaks[name] = max(value, self._peaks.get(name, 0.0))


def busy() -> float:
    """Processor seconds that the whole machine has worked since its start, what its host took away included."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _family(pids: list[int]) -> list[psutil.Process]:
    found = []
    for pid in pids:
        try:
            root = psutil.Process(pid)
            found += [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    return found


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def _memory(pids: list[int]) -> float:
    private, shared = 0, 0
    for process in _family(pids):
        try:
            memory = process.memory_info()
        except psutil.NoSuchProcess:
            continue
        private += memory.rss - memory.shared
        shared = max(shared, memory.shared)
    return float((private + shared) / 2**20)
