"""How long carriers took lately: read from a histogram, and shown as quantiles."""

import pytest
from prometheus_client import CollectorRegistry, Histogram

from shared.carriers.control import quantile
from worker.pacing.recent_delays import RECENT_SECONDS, STEP_SECONDS, RecentDelays

BOUNDS = (1.0, 2.0, 4.0)


class Delays:
    """A histogram with a clock that stands still."""

    def __init__(self) -> None:
        self.now = 0.0
        self.histogram = Histogram("delay", "Of tests.", ["carrier"], registry=CollectorRegistry(), buckets=BOUNDS)
        self.histogram.labels("main").observe(0.5)
        self.recent = RecentDelays(self.histogram, lambda: self.now)

    def observe(self, *delays: float, carrier: str = "main") -> None:
        for each in delays:
            self.histogram.labels(carrier).observe(each)

    def counts(self, carrier: str = "main") -> list[int]:
        """The counts, by bucket."""
        return list(self.recent.counts()[carrier].values())

    def after(self, seconds: float) -> list[int]:
        """The counts as they are so many seconds later, read every second meanwhile."""
        for _ in range(round(seconds)):
            self.now += 1
            self.recent.counts()
        return self.counts()


def buckets(counts: list[int]) -> dict[str, int]:
    return dict(zip(("1.0", "2.0", "4.0", "+Inf"), counts, strict=False))


def test_delays_are_counted_by_carrier_and_bucket() -> None:
    delays = Delays()
    delays.observe(0.5, 1.5, 1.5, 3.0, 9.0)
    delays.observe(3.0, carrier="other")
    assert delays.recent.counts()["main"] == buckets([1, 2, 1, 1])
    assert delays.counts("other") == [0, 0, 1, 0]


def test_old_delays_are_not_counted() -> None:
    delays = Delays()
    delays.observe(0.5)
    assert delays.after(100) == [1, 0, 0, 0]
    delays.observe(3.0)
    assert delays.after(RECENT_SECONDS - 100 - STEP_SECONDS) == [1, 0, 1, 0]
    assert delays.after(100) == [0, 0, 1, 0]
    assert delays.after(RECENT_SECONDS) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("share", "counts", "expected"),
    [
        (0.5, [], None),
        (0.5, [0, 0, 0, 0], None),
        (0.5, [4, 0, 0, 0], 0.5),
        (1.0, [4, 0, 0, 0], 1.0),
        (0.5, [1, 2, 1, 0], 1.5),
        (0.99, [0, 0, 100, 0], 3.98),
        (0.5, [0, 0, 0, 3], 4.0),
        (0.5, [1, 0, 0, 1], 1.0),
    ],
)
def test_a_quantile_is_between_the_bounds_of_its_bucket(share: float, counts: list[int], expected: float) -> None:
    assert quantile(share, buckets(counts)) == (None if expected is None else pytest.approx(expected))


def test_the_series_of_other_labels_are_added_up() -> None:
    labels = ["carrier", "category"]
    histogram = Histogram("delay", "Of tests.", labels, registry=CollectorRegistry(), buckets=BOUNDS)
    now = 0.0
    recent = RecentDelays(histogram, lambda: now)
    for category, delay in (
        ("authentication", 0.5),
        ("authentication", 3.0),
        ("marketing", 1.5),
        ("transactional", 9.0),
    ):
        histogram.labels("main", category).observe(delay)
    now += 1.0
    assert recent.counts()["main"] == {"1.0": 1, "2.0": 1, "4.0": 1, "+Inf": 1}
