"""Measures the processor time and memory of groups of processes."""

import os
import threading
from collections.abc import Callable

import psutil

Roots = Callable[[], dict[str, list[int]]]
"""The root process ids of each group. Their descendants belong to it too."""

SAMPLE_SECONDS = 0.5


class Meter:
    """Reads processor seconds on request, and samples memory for its peak since `begin`."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._peaks: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)

    def start(self) -> None:
        """Begin to sample memory."""
        self._thread.start()

    def stop(self) -> None:
        """Stop sampling, if it has begun."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def cpu(self) -> dict[str, float]:
        """Processor seconds of each group since its start, with its ended children; `load` is this process."""
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return {**{name: sum(map(_cpu, _family(pids))) for name, pids in self._roots().items()}, "load": own}

    def memory(self) -> dict[str, float]:
        """Current MiB of each group: the private memory of its processes, and the largest shared part."""
        return {name: _memory(pids) for name, pids in self._roots().items()}

    def begin(self) -> None:
        """Reset the peaks."""
        self._peaks = self.memory()

    def peaks(self) -> dict[str, float]:
        """Peak memory of each group in MiB, sampled twice a second."""
        self._note()
        return {name: round(value) for name, value in self._peaks.items()}

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._note()

    def _note(self) -> None:
        for name, value in self.memory().items():
            self._peaks[name] = max(value, self._peaks.get(name, 0.0))


def busy() -> float:
    """Busy processor seconds of the whole machine since boot, including time stolen by its host."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _family(pids: list[int]) -> list[psutil.Process]:
    processes = []
    for pid in pids:
        try:
            root = psutil.Process(pid)
            processes += [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    return processes


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
