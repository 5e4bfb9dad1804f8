"""Fixtures that every kind of test may use, and the order of the files."""

import os
from pathlib import Path

import hypothesis
import pytest

from bulksms.local import ports

hypothesis.settings.register_profile("bulksms", deadline=None)
hypothesis.settings.load_profile("bulksms")  # what a busy machine makes slow is not wrong

pytest_plugins = ["tests.harness.fixtures"]

PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PROCESSES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
PORTS = (ports.HIGHEST - ports.LOWEST) // PROCESSES
ports.LOWEST += PROCESS * PORTS
ports.HIGHEST = ports.LOWEST + PORTS - 1
"""Each test process has ports of its own: a port that is free now would otherwise be another's when a server starts."""

LONGEST_FIRST = (
    "services",
    "browser",
    "crashpoints",
    "faults",
    "hostile",
    "simulation",
    "carriers",
    "clients",
    "contract",
    "peers",
    "pooler",
    "fuzz",
)
"""Folders whose files take long. They are begun first, so that of several test processes none ends much later."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent

    def position(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=position)
