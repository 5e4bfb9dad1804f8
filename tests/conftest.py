"""Fixtures that every kind of test may use, and the order of the files."""

import hypothesis
import pytest

hypothesis.settings.register_profile("bulksms", deadline=None)
hypothesis.settings.load_profile("bulksms")  # what a busy machine makes slow is not wrong

pytest_plugins = ["tests.fixtures_servers"]

LONGEST_FIRST = (
    "services",
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
    def place(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)
