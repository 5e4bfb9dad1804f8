"""The service, its Prometheus and its carrier, for all tests of a file."""

from collections.abc import Iterator

import pytest

from tests.observe.prometheus import shortened
from tests.observe.watched import Watched, watch


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """All of them, running."""
    with watch(tmp_path_factory.mktemp("house"), shortened()) as made:
        yield made
