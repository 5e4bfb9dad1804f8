"""How long carriers took lately, from the histograms of this process."""

import time
from collections import deque
from collections.abc import Callable

from prometheus_client.registry import Collector

RECENT_SECONDS = 300.0
"""Seconds that are looked back."""
STEP_SECONDS = 10.0
"""Seconds between two readings that are kept."""

Reading = dict[str, dict[str, int]]
"""By carrier, how many delays are in each bucket (shared/carriers/control.py)."""


class RecentDelays:
    """The delays of the last minutes by carrier. Reads a histogram with the label `carrier`, and counts nothing."""

    def __init__(self, histogram: Collector, clock: Callable[[], float] = time.monotonic) -> None:
        self._histogram = histogram
        self._clock = clock
        self._readings = deque([(clock(), self._read())])

    def counts(self) -> Reading:
        """What was counted in the last RECENT_SECONDS to RECENT_SECONDS + STEP_SECONDS seconds."""
        now, latest = self._clock(), self._read()
        while len(self._readings) > 1 and self._readings[1][0] <= now - RECENT_SECONDS:
            self._readings.popleft()
        if now - self._readings[-1][0] >= STEP_SECONDS:
            self._readings.append((now, latest))
        before = self._readings[0][1]
        return {
            carrier: {bound: count - before.get(carrier, {}).get(bound, 0) for bound, count in buckets.items()}
            for carrier, buckets in latest.items()
        }

    def _read(self) -> Reading:
        """What was counted since the process started, all other labels together.

        Prometheus adds the smaller buckets to each.
        """
        reading: Reading = {}
        below: dict[tuple[str, ...], int] = {}
        for metric in self._histogram.collect():
            for sample in metric.samples:
                if "le" in sample.labels:
                    labels, count = dict(sample.labels), round(sample.value)
                    size, series = labels.pop("le"), tuple(labels.values())
                    buckets = reading.setdefault(labels["carrier"], {})
                    buckets[size] = buckets.get(size, 0) + count - below.get(series, 0)
                    below[series] = count
        return reading
