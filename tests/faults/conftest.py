"""A ground for each fault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.ground import Fault, standing

FOLDER = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All faults but the slow ones are for `make faults` only."""
    for item in items:
        if item.path.parent == FOLDER and not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.faults)


@pytest.fixture
def settings() -> dict[str, str]:
    """Settings of the ground; a test that needs others overrides this by `parametrize`."""
    return {}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the ground keeps everything."""
    return tmp_path


@pytest.fixture
def fault(folder: Path, settings: dict[str, str]) -> Iterator[Fault]:
    """A running service with two workers, and the workload around the fault."""
    with standing(folder, **settings) as made:
        yield made
