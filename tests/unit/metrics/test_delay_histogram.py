"""A histogram that counts many delays at once exposes what prometheus_client's own would."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from shared.observability.delay_histogram import DelayHistogram
from shared.observability.metrics import DIRECTORY, HostCollector

NAME, HELP, LABELS, BOUNDS = "wait_seconds", "Seconds.", ["carrier", "category"], (0.5, 1.0, 30.0)
COUNT = """
from shared.observability.metrics import CONNECTION_FAILURES, RECEIPT_DELAY
CONNECTION_FAILURES.labels("redis").inc()
RECEIPT_DELAY.observe_all([0.2, 0.3, 4.0], "main", "marketing")
RECEIPT_DELAY.observe_all([90_000.0], "main", "authentication")
"""
OF_AN_EARLIER_RELEASE = """
from prometheus_client import Histogram
from shared.observability import metrics
histogram = Histogram("bulksms_receipt_delay_seconds", "Of tests.", ["carrier", "category"])
histogram.labels("main", "marketing").observe(1.0)
"""


def run(program: str, directory: Path) -> str:
    """What a process that counts in the directory prints."""
    environment = {**os.environ, DIRECTORY: str(directory)}
    return subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)


@pytest.mark.parametrize(
    "delays",
    [[0.1], [0.5, 1.0, 30.0, 30.5], [0.0, 0.0, 1.5, 2.5, 1e9]],
    ids=["one", "each at its bound", "some equal"],
)
def test_it_exposes_what_an_ordinary_one_would(delays: list[float]) -> None:
    ordinary, own = CollectorRegistry(), CollectorRegistry()
    histogram = Histogram(NAME, HELP, LABELS, registry=ordinary, buckets=BOUNDS)
    at_once = DelayHistogram(NAME, HELP, LABELS, own, BOUNDS)
    for labels in (("main", "marketing"), ("other", "")):
        for delay in delays:
            histogram.labels(*labels).observe(delay)
        at_once.observe_all(delays[:1], *labels)
        at_once.observe_all(delays[1:], *labels)
    assert generate_latest(own) == generate_latest(ordinary)


def test_what_processes_have_counted_is_one_histogram(tmp_path: Path) -> None:
    for _ in range(2):
        run(COUNT, tmp_path)
    registry = CollectorRegistry()
    registry.register(HostCollector(str(tmp_path)))
    name, labels = "bulksms_receipt_delay_seconds", {"carrier": "main", "category": "marketing"}
    assert [
        registry.get_sample_value(f"{name}_bucket", {**labels, "le": bound}) for bound in ("0.5", "2.0", "5.0", "+Inf")
    ] == [4.0, 4.0, 6.0, 6.0]
    assert registry.get_sample_value(f"{name}_count", labels) == 6.0
    assert registry.get_sample_value(f"{name}_sum", labels) == pytest.approx(9.0)
    assert registry.get_sample_value(f"{name}_count", {**labels, "category": "authentication"}) == 2.0
    assert registry.get_sample_value("bulksms_connection_failures_total", {"server": "redis"}) == 2.0
    assert not [metric.name for metric in registry.collect() if "delay_seconds_" in metric.name]


def test_it_takes_the_place_of_an_ordinary_one_that_an_earlier_release_counted(tmp_path: Path) -> None:
    run(OF_AN_EARLIER_RELEASE, tmp_path)
    run(COUNT, tmp_path)
    registry = CollectorRegistry()
    registry.register(HostCollector(str(tmp_path)))
    families = [metric for metric in registry.collect() if metric.name == "bulksms_receipt_delay_seconds"]
    assert len(families) == 1
    assert sum(sample.value for sample in families[0].samples if sample.name.endswith("_count")) == 4.0
