"""A ground for each fault."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.catalogue import SHORT
from tests.faults.ground import Fault, standing


def name_of(nodeid: str) -> str:
    """The fault that a test is about, such as F01; empty when it is about none."""
    match = re.search(r"::test_([fs]\d\d)_", nodeid)
    return match[1].upper() if match else ""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The SHORT ones are slow, and all other faults are for `make faults` only."""
    for item in items:
        if name := name_of(item.nodeid):
            item.add_marker(pytest.mark.slow if name in SHORT else pytest.mark.faults)


@pytest.fixture
def settings() -> dict[str, str]:
    """Settings of the ground; a test that needs others overrides this by `parametrize`."""
    return {}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the ground keeps everything."""
    return tmp_path


@pytest.fixture
def fault(request: pytest.FixtureRequest, folder: Path, settings: dict[str, str]) -> Iterator[Fault]:
    """A running service with two workers, and the fault that the test is named for."""
    with standing(name_of(request.node.nodeid), folder, **settings) as made:
        yield made
