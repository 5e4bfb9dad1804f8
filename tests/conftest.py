"""Fixtures that every kind of test may use, and the order of the files."""

import os
from pathlib import Path

import hypothesis
import pytest

from bulksms.local import ports, postgres
from tests.harness.port_ranges import take_range

# What a busy machine makes slow is not wrong. `--hypothesis-profile=new-examples` tries other examples in each run.
hypothesis.settings.register_profile(
    "new-examples", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("bulksms", hypothesis.settings.get_profile("new-examples"), derandomize=True)
hypothesis.settings.load_profile("bulksms")

pytest_plugins = ["tests.harness.fixtures", "tests.harness.patience", "tests.harness.reruns"]

PORTS = take_range()
ports.LOWEST, ports.HIGHEST = PORTS[0], PORTS[-1]

for name in ("LD_PRELOAD", "CLOCK_OFFSET"):  # `make test DAYS_AHEAD=365`; Postgres has an environment of its own
    if name in os.environ:
        postgres.ENVIRONMENT[name] = os.environ[name]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option that `make test` gives without TESTS and ALL."""
    parser.addoption("--without-slow", action="store_true", help="leave out the tests that are marked as slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests if they are not wanted, and begin with the folders that take longest."""
    if config.getoption("--without-slow"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    tests = Path(__file__).parent

    def position(item: pytest.Item) -> tuple[bool, bool]:
        """Files of `services` take longest; the short ones come last, so that no test process ends much later."""
        folder = item.path.relative_to(tests).parts[0]
        return folder in ("integration", "unit"), folder != "services"

    items.sort(key=position)
