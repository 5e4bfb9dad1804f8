"""A histogram in which many delays are counted at once.

`Histogram` of prometheus_client takes one delay at a time, in several microseconds where processes count in files. Here
the delays of a bucket are added up first. They are stored in two counters, and exposed as an ordinary histogram.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf

import prometheus_client
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

BOUND = "le"
"""The label of a bucket: its upper bound in seconds."""


class DelayHistogram(Collector):
    """Counts delays in seconds by labels. `bounds` are the upper bounds of its buckets, but for the infinite one."""

    def __init__(
        self,
        name: str,
        documentation: str,
        labels: Sequence[str],
        registry: CollectorRegistry,
        bounds: Sequence[float],
    ) -> None:
        self._name, self._documentation, self._labels = name, documentation, labels
        self._bounds = [*bounds, inf]
        self._buckets = [floatToGoString(bound) for bound in self._bounds]  # type: ignore[no-untyped-call]
        self._counted = prometheus_client.Counter(f"{name}_counted", documentation, [*labels, BOUND], registry=None)
        self._seconds = prometheus_client.Counter(f"{name}_seconds", documentation, labels, registry=None)
        self._children: dict[tuple[str, ...], list[prometheus_client.Counter]] = {}
        """By labels, a counter for each bucket. As in an ordinary histogram, all of them exist as soon as one does."""
        registry.register(self)

    def initialize(self, *labels: str) -> None:
        """Expose the buckets of these labels, with what an earlier process has left in them."""
        if labels not in self._children:
            self._children[labels] = [self._counted.labels(*labels, bucket) for bucket in self._buckets]

    def observe_all(self, delays: Collection[float], *labels: str) -> None:
        """Count delays that have the same labels. Those below zero count as zero."""
        self.initialize(*labels)
        for bucket, number in Counter(bisect_left(self._bounds, delay) for delay in delays).items():
            self._children[labels][bucket].inc(number)
        self._seconds.labels(*labels).inc(sum(delay for delay in delays if delay > 0))

    def collect(self) -> Iterable[Metric]:
        """The histogram of what this process has counted."""
        return self.merge([*self._counted.collect(), *self._seconds.collect()])

    def merge(self, metrics: Iterable[Metric]) -> Iterator[Metric]:
        """The metrics, with the histogram in place of its two counters, and without that of an earlier release."""
        own_names = (self._name, f"{self._name}_counted", f"{self._name}_seconds")
        counted: dict[tuple[str, ...], dict[str, float]] = {}
        seconds: dict[tuple[str, ...], float] = {}
        for metric in metrics:
            if metric.name not in own_names:
                yield metric
            for sample in metric.samples:
                labels = tuple(sample.labels.get(label, "") for label in self._labels)
                if sample.name == f"{self._name}_counted_total":
                    counted.setdefault(labels, {})[sample.labels[BOUND]] = sample.value
                elif sample.name == f"{self._name}_seconds_total":
                    seconds[labels] = sample.value
        histogram = HistogramMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, buckets in counted.items():
            up_to = accumulate(buckets.get(bucket, 0.0) for bucket in self._buckets)
            histogram.add_metric(labels, list(zip(self._buckets, up_to, strict=True)), seconds.get(labels, 0.0))
        yield histogram
